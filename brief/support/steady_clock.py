"""A wall clock checked against a monotonic one, so that a jump of the wall clock does not expire anything early."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

JUMP = timedelta(minutes=1)
"""How far the wall clock may deviate from the steady clock before that counts as a jump."""


def boot_seconds() -> float:
    """Seconds since boot, including sleep if the system counts it."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class SteadyClock:
    """Doubts the wall clock when it runs ahead of the steady one. Without `steady` it believes the wall clock."""

    def __init__(self, now: Callable[[], datetime], steady: Callable[[], float] | None) -> None:
        self._now = now
        self._steady = steady
        self._wall = now()
        self._since = 0.0 if steady is None else steady()
        self._ahead = timedelta(0)

    def earliest(self) -> datetime:
        """The earlier of the wall clock's time and the time it would show if it had not been set since `believe`."""
        return min(self._now(), self._expect_now())

    def believe(self) -> None:
        """Accept the wall clock as it is now. A jump that persists until the next pass was a correction."""
        self._wall = self._now()
        self._since = 0.0 if self._steady is None else self._steady()
        self._ahead = timedelta(0)

    def has_gone_back(self) -> bool:
        """Whether the wall clock was set back since the last call."""
        ahead = self._now() - self._expect_now()
        before, self._ahead = self._ahead, ahead
        return before - ahead > JUMP

    def _expect_now(self) -> datetime:
        if self._steady is None:
            return self._now()
        return self._wall + timedelta(seconds=self._steady() - self._since)
