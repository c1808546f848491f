"""Blocking work in a daemon thread of its own, awaited from the event loop.

An executor would do, but its threads are waited for when the interpreter ends: one file system that hangs would keep
the process for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


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
        threading.Thread(target=run, daemon=True).start()
    except RuntimeError as fault:  # the system has no thread left
        future.set_exception(fault)
    return future


def _bearable(fault: BaseException) -> BaseException:
    """The fault, but for StopIteration: no future takes that, and whoever awaits would wait for ever."""
    return RuntimeError(repr(fault)) if isinstance(fault, StopIteration) else fault


def _later(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], settle: Callable[[Any], None], outcome: object
) -> None:
    # The loop may have ended meanwhile, and then nobody waits for the outcome.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(lambda: None if future.done() else settle(outcome))
