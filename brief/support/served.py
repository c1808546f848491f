"""Which sessions a mod has served of late: what it has told, a settings hook of the same client need not tell again."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta
from threading import Lock

LATELY = timedelta(minutes=2)


class Served:
    """When the mod last served each session, in memory; moments are aware. Safe to use from any thread."""

    def __init__(self) -> None:
        self._at: OrderedDict[str, datetime] = OrderedDict()
        self._lock = Lock()

    def note(self, session: str, now: datetime) -> None:
        """Note that the mod has served a session, and forget those it has not served of late."""
        with self._lock:
            self._at[session] = now
            self._at.move_to_end(session)
            while not _is_recent(self._at[next(iter(self._at))], now):
                self._at.popitem(last=False)

    def lately(self, session: str, now: datetime) -> bool:
        """Whether it did so within two minutes; a clock that was set back does not make that longer."""
        at = self._at.get(session)
        return at is not None and _is_recent(at, now)


def _is_recent(at: datetime, now: datetime) -> bool:
    return abs(now - at) < LATELY
