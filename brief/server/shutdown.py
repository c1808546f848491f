"""Requests to end the server by a signal, which may come before the event loop runs."""

from __future__ import annotations

import signal
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


class StopRequest:
    """Remembers that the server was asked to end, and passes it on to the event loop once there is one."""

    def __init__(self) -> None:
        self.is_requested = False
        self._ending: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def listen(self) -> None:
        """Handle SIGTERM, SIGINT and SIGHUP from now on, except those that were ignored when the process started."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle_signal)

    def pass_on_to(self, ending: asyncio.Event) -> None:
        """Set `ending` when the server is asked to end, at once if it already was."""
        from asyncio import get_running_loop  # noqa: PLC0415 - a process that finds the lease taken needs no loop

        self._loop = get_running_loop()
        self._ending = ending
        if self.is_requested:
            ending.set()

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the shape of a signal handler
        self.is_requested = True
        if self._loop is not None and self._ending is not None:
            # A handler runs between two steps of the loop, which must be woken to see the change.
            self._loop.call_soon_threadsafe(self._ending.set)
