"""Which clients show a session. One that is resumed while another still shows it is open in both, under one id.

The first of them has it: the record of the episode follows that one alone, or it would flap between two checkouts.
"""

from __future__ import annotations

import threading
from datetime import datetime

from brief.core.sessions.episode import Client
from brief.core.sessions.life import SILENT_AFTER, Life
from brief.sessions.processes import process_life

_Heard = dict[int, tuple[Client, datetime]]


class Clients:
    """When each client last spoke for a session, in memory; moments are aware. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heard: dict[str, _Heard] = {}

    def note(self, session: str, client: Client, now: datetime) -> bool:
        """Note that a client spoke for a session; whether it has it, which of those heard of late the first does."""
        with self._lock:
            heard = {
                pid: (other, at)
                for pid, (other, at) in self._heard.get(session, {}).items()
                if pid == client.pid or _may_show(other, at, now)
            }
            heard[client.pid] = (client, now)
            self._heard[session] = heard
            return next(pid for pid, (_, at) in heard.items() if _is_late(at, now)) == client.pid

    def knows(self, session: str, pid: int) -> bool:
        """Whether a client of this process spoke for the session."""
        with self._lock:
            return pid in self._heard.get(session, {})

    def of(self, session: str, now: datetime) -> tuple[Client, ...]:
        """The clients that were heard of late, the one that has the session first."""
        with self._lock:
            return tuple(client for client, at in self._heard.get(session, {}).values() if _is_late(at, now))

    def leave(self, session: str, pid: int | None, now: datetime) -> tuple[Client, ...]:
        """Forget the client of a process; those that may still show the session, the one heard first before the others."""
        with self._lock:
            heard = self._heard.get(session, {})
            if pid is not None:
                heard.pop(pid, None)
            return tuple(client for client, at in heard.values() if _may_show(client, at, now))

    def forget(self, session: str) -> None:
        """Know nothing of a session that was closed; whoever shows it still will speak again."""
        with self._lock:
            self._heard.pop(session, None)


def _is_late(heard: datetime, now: datetime) -> bool:
    """Whether a client was heard of late, wherever the clock was set meanwhile."""
    return abs(now - heard) < SILENT_AFTER


def _may_show(client: Client, heard: datetime, now: datetime) -> bool:
    """Whether a client may still show a session: its process lives, or was heard of late and is not proven to be gone."""
    life = Life.UNKNOWN if client.process is None else process_life(client.process)
    return life is Life.ALIVE or (life is Life.UNKNOWN and _is_late(heard, now))
