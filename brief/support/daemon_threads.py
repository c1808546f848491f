"""Blocking work in a daemon thread, awaited from the event loop.

An executor would not do: the interpreter waits for its threads at exit, so one hanging file system would keep the
process alive forever. The pool is unbounded, so hung threads cannot exhaust it. Idle threads are reused for a while,
since starting one costs as much as answering a small request.
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
    """Run `work` in a thread. The future gets what it returns or raises; cancelling it does not stop the thread."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def run() -> None:
        try:
            settle, outcome = future.set_result, work()
        except BaseException as fault:  # noqa: BLE001 - every exception goes to the awaiting caller
            _settle_in_loop(loop, future, future.set_exception, _without_stop_iteration(fault))
        else:
            _settle_in_loop(loop, future, settle, outcome)

    try:
        _workers.begin(run)
    except RuntimeError as fault:  # the system has no thread left
        future.set_exception(fault)
    return future


class Workers:
    """An unbounded pool of threads, for work that never raises."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[Work]] = []

    def begin(self, work: Work) -> None:
        """Start the work at once, in the thread that became idle last, so that surplus ones time out, or in a new one."""
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is not None:
            inbox.put(work)
            return
        inbox = SimpleQueue()
        inbox.put(work)
        threading.Thread(target=self._work, args=(inbox,), daemon=True).start()

    def _work(self, inbox: SimpleQueue[Work]) -> None:
        while (work := self._take_next(inbox)) is not None:
            work()
            del work  # do not keep alive what it refers to while the thread is idle
            with self._lock:
                self._idle.append(inbox)

    def _take_next(self, inbox: SimpleQueue[Work]) -> Work | None:
        """The thread's next work. None if it gets none for a while."""
        with contextlib.suppress(Empty):
            return inbox.get(timeout=IDLE_SECONDS)
        with self._lock:
            if inbox in self._idle:
                self._idle.remove(inbox)
                return None
        return inbox.get()  # `begin` took this inbox just now and is about to put work into it


_workers = Workers()


def _without_stop_iteration(fault: BaseException) -> BaseException:
    """The exception, with StopIteration replaced: a future refuses that, and its caller would wait forever."""
    return RuntimeError(repr(fault)) if isinstance(fault, StopIteration) else fault


def _settle_in_loop(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], settle: Callable[[Any], None], outcome: object
) -> None:
    # The loop may have closed meanwhile, and then nobody waits for the outcome.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(lambda: None if future.done() else settle(outcome))
