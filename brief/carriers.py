"""For whom the carrier is installed that minds each session, which decides whether it needs trust to wake it."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Literal

MOST = 2_000
"""How many sessions are remembered."""

Scope = Literal["project", "user"]
"""For the sessions that start in one checkout, or for all of a person's."""


class Carriers:
    """What each session's carrier last said of itself, in memory. Safe to use from any thread."""

    def __init__(self) -> None:
        self._scopes: OrderedDict[str, Scope] = OrderedDict()
        self._lock = Lock()

    def note(self, session: str, scope: Scope) -> None:
        """Note for whom the carrier of a session is installed."""
        with self._lock:
            self._scopes[session] = scope
            self._scopes.move_to_end(session)
            if len(self._scopes) > MOST:
                self._scopes.popitem(last=False)

    def of(self, session: str) -> Scope:
        """For whom that is; for the project where nothing was said, since its look will say otherwise before it is woken."""
        return self._scopes.get(session, "project")
