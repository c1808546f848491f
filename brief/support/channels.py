"""What the channel that minds each session last said of itself: for whom it is installed, and what holds a wake back."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Literal, NamedTuple

MOST = 2_000
"""How many sessions are remembered."""

Scope = Literal["project", "user"]
"""For the sessions that start in one checkout, or for all of a person's."""


class Channel(NamedTuple):
    """A mod or a hook that asks for a session; `draft` is whether something stood in the prompt box when it asked."""

    scope: Scope
    draft: bool


class Channels:
    """The channel of each session, in memory: of those that asked this server. Safe to use from any thread."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Channel] = OrderedDict()
        self._lock = Lock()

    def note(self, session: str, scope: Scope, *, draft: bool = False) -> None:
        """Note that the channel of a session asks, and how it is."""
        with self._lock:
            self._known[session] = Channel(scope, draft)
            self._known.move_to_end(session)
            if len(self._known) > MOST:
                self._known.popitem(last=False)

    def of(self, session: str) -> Channel | None:
        """The channel of a session; None where none has asked, so that nobody would take a wake to it."""
        return self._known.get(session)
