"""Which process waits beside each session to wake it: of several, the one that began last."""

from __future__ import annotations

import threading

MOST = 2_000
"""How many sessions are remembered; who is forgotten is only asked once more by its process."""


class Waiters:
    """When the process that waits for each session began, in memory. Safe to use from any thread.

    A beginning is in seconds of a clock that is never set and that all processes of a machine read alike.
    """

    def __init__(self) -> None:
        self._begun: dict[str, float] = {}
        self._lock = threading.Lock()

    def note(self, session: str, since: float) -> bool:
        """Note that it asks; False where another began later, which waits in its place."""
        with self._lock:
            last = max(since, self._begun.pop(session, since))
            self._begun[session] = last
            if len(self._begun) > MOST:
                del self._begun[next(iter(self._begun))]
            return last == since
