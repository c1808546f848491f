"""Work that is done only after an answer has reached its reader, so that nothing unread counts as delivered.

A handler composes its answer in a `turn` and adds its notes there. Whoever transmits the answer wraps the handler in
`collect_notes` and concludes the delivery with its outcome. Without that, the caller itself is the reader, and the notes
run at once. If it is doubtful whether the answer was read, nothing is noted, and its content is delivered again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextvars import ContextVar
from enum import Enum

TURN_SECONDS = 0.25
"""How long an answer waits for the outcome of the previous answer to the same session."""

Note = Callable[[], Awaitable[object]]
"""A piece of work to do after a delivery. It must not raise."""


class Reached(Enum):
    """The outcome of a delivery. UNREAD is proven; in DOUBT the answer may have been read, in part or in whole."""

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
        """Whether anything depends on the outcome."""
        return bool(self._when_read or self._when_unread or self._leave)

    def add(self, notes: list[Note], leave: Callable[[], None]) -> None:
        """Run the notes if the answer was read, and `leave` in any case."""
        self._when_read += notes
        self._leave.append(leave)

    def add_if_unread(self, note: Note) -> None:
        """Run the note if it is proven that nobody read the answer."""
        self._when_unread.append(note)

    async def conclude(self, reached: Reached) -> None:
        """Run the notes for this outcome."""
        notes = {Reached.READ: self._when_read, Reached.UNREAD: self._when_unread, Reached.DOUBT: []}[reached]
        try:
            for note in notes:
                await note()
        finally:
            for leave in self._leave:
                leave()


_current: ContextVar[Delivery | None] = ContextVar("delivery", default=None)


@contextlib.contextmanager
def collect_notes(delivery: Delivery) -> Iterator[None]:
    """Collect the notes of the answer that is composed in this block. The caller then concludes the delivery."""
    token = _current.set(delivery)
    try:
        yield
    finally:
        _current.reset(token)


def if_unread(note: Note) -> None:
    """Run the note if it is proven that nobody read the answer that is being composed."""
    delivery = _current.get()
    if delivery is not None:
        delivery.add_if_unread(note)


class Turns:
    """One answer at a time for each session, so that nothing is delivered in two answers. For one event loop.

    A turn ends when the outcome of its answer is known. The next turn waits for that, but at most TURN_SECONDS.
    """

    def __init__(self) -> None:
        self._taken: dict[str, asyncio.Event] = {}

    async def settle(self, session: str | None) -> None:
        """Wait, at most TURN_SECONDS, for the outcome of the last answer to a session."""
        taken = self._taken.get(session) if session is not None else None
        if taken is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(taken.wait(), TURN_SECONDS)

    @contextlib.asynccontextmanager
    async def turn(self, session: str | None) -> AsyncIterator[list[Note]]:
        """Compose an answer for a session. The notes put into the list run once the answer was read."""
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
        """Begin the turn of a session. Calling the result ends it."""
        if session is None:
            return lambda: None
        taken = self._taken[session] = asyncio.Event()

        def leave() -> None:
            if self._taken.get(session) is taken:
                del self._taken[session]
            taken.set()

        return leave
