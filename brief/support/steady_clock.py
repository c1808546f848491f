"""A wall clock held against one that is never set, so that a jump ends nothing that has still to run."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

JUMP = timedelta(minutes=1)
"""How far the wall clock may stray from the steady one before that counts as a jump."""


def boot_seconds() -> float:
    """Seconds since boot, those asleep included where the system tells them."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class SteadyClock:
    """Doubts a wall clock that runs ahead of the steady one. Without `steady` it believes the wall clock."""

    def __init__(self, now: Callable[[], datetime], steady: Callable[[], float] | None) -> None:
        self._now = now
        self._steady = steady
        self._wall = now()
        self._since = 0.0 if steady is None else steady()
        self._ahead = timedelta(0)

    def earliest(self) -> datetime:
        """The earlier of the wall clock and what it would show had nobody set it since it was last believed."""
        return min(self._now(), self._expected())

    def believe(self) -> None:
        """Take the wall clock as it is: a jump that has stood until the next pass was a correction."""
        self._wall = self._now()
        self._since = 0.0 if self._steady is None else self._steady()
        self._ahead = timedelta(0)

    def has_gone_back(self) -> bool:
        """Whether the wall clock was set back since this was last asked."""
        ahead = self._now() - self._expected()
        before, self._ahead = self._ahead, ahead
        return before - ahead > JUMP

    def _expected(self) -> datetime:
        if self._steady is None:
            return self._now()
        return self._wall + timedelta(seconds=self._steady() - self._since)
