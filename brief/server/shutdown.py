"""The wish to end, by signal or by call, that may come before there is anything to end."""

from __future__ import annotations

import signal
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio


class Stopping:
    """Remembers that an end was asked for, and tells the event loop once there is one."""

    def __init__(self) -> None:
        self.asked = False
        self._ending: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def listen(self) -> None:
        """Take SIGTERM, SIGINT and SIGHUP from now on; one that whoever started us had ignored stays ignored."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._heard)

    def tell(self, ending: asyncio.Event) -> None:
        """Set `ending` when an end is asked for, at once if it was already."""
        from asyncio import get_running_loop  # noqa: PLC0415 - whoever finds the lease taken needs no loop

        self._loop = get_running_loop()
        self._ending = ending
        if self.asked:
            ending.set()

    def _heard(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the shape of a signal handler
        self.asked = True
        if self._loop is not None and self._ending is not None:
            # A handler runs between two steps of the loop: the loop has to be woken to see what changed.
            self._loop.call_soon_threadsafe(self._ending.set)
