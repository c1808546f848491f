"""Which process waits beside each client to wake its session: of several, the one that began last."""

from __future__ import annotations

import threading

MOST = 2_000
"""How many clients are remembered; who is forgotten is only asked once more by its process."""


class Waiters:
    """When the process that waits beside each client began, in memory. Safe to use from any thread.

    A beginning is in seconds of a clock that is never set and that all processes of a machine read alike.
    """

    def __init__(self) -> None:
        self._begun: dict[str, float] = {}
        self._lock = threading.Lock()

    def note(self, client: str, since: float) -> bool:
        """Note that it asks; False where another began later, which waits in its place."""
        with self._lock:
            last = max(since, self._begun.pop(client, since))
            self._begun[client] = last
            if len(self._begun) > MOST:
                del self._begun[next(iter(self._begun))]
            return last == since
