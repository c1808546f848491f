"""What is noted only once an answer has reached its reader, so that nothing counts as told that nobody read.

A handler composes an answer in a `turn` and leaves the notes there. Whoever carries the answer to its reader opens
`delivering` around the handler and concludes it with what became of the answer; where nobody does, the caller itself is
the reader, and the notes are made at once. In doubt nothing is noted, and all is told again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextvars import ContextVar
from enum import Enum

TURN_SECONDS = 0.25
"""How long an answer waits until it is known what became of the one before it to the same session."""

Note = Callable[[], Awaitable[object]]
"""What is to be noted; it raises nothing."""


class Reached(Enum):
    """What became of an answer; UNREAD is proven, and in DOUBT it may have been read in part or in whole."""

    READ = "read"
    UNREAD = "unread"
    DOUBT = "doubt"


class Delivery:
    """One answer on its way to its reader."""

    def __init__(self) -> None:
        self._when_read: list[Note] = []
        self._when_unread: list[Note] = []
        self._leave: list[Callable[[], None]] = []

    @property
    def is_awaited(self) -> bool:
        """Whether anything depends on what becomes of the answer."""
        return bool(self._when_read or self._when_unread or self._leave)

    def add(self, notes: list[Note], leave: Callable[[], None]) -> None:
        """Make these notes once the answer was read, and `leave` in any case."""
        self._when_read += notes
        self._leave.append(leave)

    def add_if_unread(self, note: Note) -> None:
        """Make this note once it is proven that nobody read the answer."""
        self._when_unread.append(note)

    async def conclude(self, reached: Reached) -> None:
        """Make the notes that what became of the answer calls for."""
        notes = {Reached.READ: self._when_read, Reached.UNREAD: self._when_unread, Reached.DOUBT: []}[reached]
        try:
            for note in notes:
                await note()
        finally:
            for leave in self._leave:
                leave()


_current: ContextVar[Delivery | None] = ContextVar("delivery", default=None)


@contextlib.contextmanager
def delivering(delivery: Delivery) -> Iterator[None]:
    """Collect what is to be noted of the answer that is composed in this block; whoever opens it concludes it."""
    token = _current.set(delivery)
    try:
        yield
    finally:
        _current.reset(token)


def if_unread(note: Note) -> None:
    """Make this note once it is proven that nobody read the answer that is being composed."""
    delivery = _current.get()
    if delivery is not None:
        delivery.add_if_unread(note)


class Turns:
    """The answers that sessions wait for, one at a time for each, so that nothing is told in two of them.

    For one event loop. A turn ends when it is known what became of its answer; the next waits for that for a moment only.
    """

    def __init__(self) -> None:
        self._taken: dict[str, asyncio.Event] = {}

    async def settle(self, session: str | None) -> None:
        """Wait, for at most TURN_SECONDS, until it is known what became of the last answer to a session."""
        taken = self._taken.get(session) if session is not None else None
        if taken is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(taken.wait(), TURN_SECONDS)

    @contextlib.asynccontextmanager
    async def turn(self, session: str | None) -> AsyncIterator[list[Note]]:
        """Compose for a session; what is put into the list is done once the answer was read."""
        await self.settle(session)
        leave = self._take(session)
        notes: list[Note] = []
        try:
            yield notes
        except BaseException:
            leave()
            raise
        delivery = _current.get() or Delivery()
        delivery.add(notes, leave)
        if _current.get() is None:
            await delivery.conclude(Reached.READ)

    def _take(self, session: str | None) -> Callable[[], None]:
        """Take the turn of a session; what is given back ends it."""
        if session is None:
            return lambda: None
        taken = self._taken[session] = asyncio.Event()

        def leave() -> None:
            if self._taken.get(session) is taken:
                del self._taken[session]
            taken.set()

        return leave
