"""Blocking work in a daemon thread of its own, awaited from the event loop.

An executor would do, but the interpreter waits for its threads at the end, so one hanging file system would keep the
process alive for ever. The pool is unbounded, so hung threads cannot exhaust it. An idle thread takes further work for a
while, since starting one costs as much as answering a small question.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

IDLE_SECONDS = 5.0
"""How long a thread waits for more work before it ends."""

Result = TypeVar("Result")
Work = Callable[[], None]


def in_thread(work: Callable[[], Result]) -> asyncio.Future[Result]:
    """A future of what `work` returns or raises. Cancelling it does not stop the thread."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def run() -> None:
        try:
            settle, outcome = future.set_result, work()
        except BaseException as fault:  # noqa: BLE001 - whatever it raises belongs to whoever awaits it
            _later(loop, future, future.set_exception, _bearable(fault))
        else:
            _later(loop, future, settle, outcome)

    try:
        _workers.begin(run)
    except RuntimeError as fault:  # the system has no thread left
        future.set_exception(fault)
    return future


class Workers:
    """Threads that do work which never raises, as many as are needed at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[Work]] = []

    def begin(self, work: Work) -> None:
        """Have it done at once, by the thread that was idle last, so that those too many end, or by a new one."""
        with self._lock:
            given = self._idle.pop() if self._idle else None
        if given is not None:
            given.put(work)
            return
        given = SimpleQueue()
        given.put(work)
        threading.Thread(target=self._work, args=(given,), daemon=True).start()

    def _work(self, given: SimpleQueue[Work]) -> None:
        while (work := self._next(given)) is not None:
            work()
            del work  # or what it refers to would be kept for as long as the thread waits
            with self._lock:
                self._idle.append(given)

    def _next(self, given: SimpleQueue[Work]) -> Work | None:
        """What a thread is given; None where that is nothing for a while."""
        with contextlib.suppress(Empty):
            return given.get(timeout=IDLE_SECONDS)
        with self._lock:
            if given in self._idle:
                self._idle.remove(given)
                return None
        return given.get()  # it was taken just now, and is given work


_workers = Workers()


def _bearable(fault: BaseException) -> BaseException:
    """The fault, but for StopIteration: no future takes that, and whoever awaits would wait for ever."""
    return RuntimeError(repr(fault)) if isinstance(fault, StopIteration) else fault


def _later(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], settle: Callable[[Any], None], outcome: object
) -> None:
    # The loop may have ended meanwhile, and then nobody waits for the outcome.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(lambda: None if future.done() else settle(outcome))
