"""What sessions and their clients did lately, in memory: a server that starts knows nothing of it and soon learns it.

A session that is resumed while another client still shows it is open in both, under one id. The first of them has it:
the record of the episode follows that one alone, or it would flap between two checkouts.
"""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from brief.core.sessions.episode import Client
from brief.core.sessions.life import SILENT_AFTER, Life
from brief.sessions.processes import process_life
from brief.support.recent_map import RecentMap

MOST = 2_000
"""How many sessions or clients are remembered, but for the clients that show a session: those are kept while it is open."""

SERVED_FOR = timedelta(minutes=2)

Scope = Literal["project", "user"]
"""For the sessions that start in one checkout, or for all of a person's."""


class Channel(NamedTuple):
    """A mod or a hook that asks for a session; `draft` is whether something stood in the prompt box when it asked."""

    scope: Scope
    draft: bool


class Activity:
    """What was heard of late. Safe to use from any thread; moments are aware."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._served: RecentMap[str, datetime] = RecentMap(MOST)
        self._channels: RecentMap[str, Channel] = RecentMap(MOST)
        self._waiting: RecentMap[str, float] = RecentMap(MOST)
        self._clients: dict[str, dict[int, tuple[Client, datetime]]] = {}

    # ---------------------------------------------------------------- mods and hooks

    def note_served(self, session: str, now: datetime) -> None:
        """Note that a mod has served a session: what it told, a settings hook of the same client need not tell again."""
        with self._lock:
            self._served[session] = now

    def is_served(self, session: str, now: datetime) -> bool:
        """Whether a mod did so within two minutes; a clock that was set back does not make that longer."""
        at = self._served.get(session)
        return at is not None and abs(now - at) < SERVED_FOR

    def note_channel(self, session: str, scope: Scope, *, draft: bool = False) -> None:
        """Note what the channel of a session says of itself: for whom it is installed, and what holds a wake back."""
        with self._lock:
            self._channels[session] = Channel(scope, draft)

    def channel(self, session: str) -> Channel | None:
        """The channel of a session; None where none has asked, so that nobody would take a wake to it."""
        return self._channels.get(session)

    def note_waiting(self, client: str, since: float) -> bool:
        """Note that a process waits beside a client to wake its session; False where another began later.

        `since` is when it began, in seconds of a clock that is never set and that all processes of a machine read alike.
        """
        with self._lock:
            last = max(since, self._waiting.get(client, since))
            self._waiting[client] = last
            return last == since

    # ---------------------------------------------------------------- the clients that show a session

    def note_client(self, session: str, client: Client, now: datetime) -> bool:
        """Note that a client spoke for a session; whether it has it, which of those heard of late the first does."""
        with self._lock:
            heard = {
                pid: (other, at)
                for pid, (other, at) in self._clients.get(session, {}).items()
                if pid == client.pid or _may_show(other, at, now)
            }
            heard[client.pid] = (client, now)
            self._clients[session] = heard
            return next(pid for pid, (_, at) in heard.items() if _is_recent(at, now)) == client.pid

    def knows_client(self, session: str, pid: int) -> bool:
        """Whether a client of this process spoke for the session."""
        with self._lock:
            return pid in self._clients.get(session, {})

    def clients(self, session: str, now: datetime) -> tuple[Client, ...]:
        """The clients that were heard of late, the one that has the session first."""
        with self._lock:
            return tuple(client for client, at in self._clients.get(session, {}).values() if _is_recent(at, now))

    def remove_client(self, session: str, pid: int | None, now: datetime) -> tuple[Client, ...]:
        """Forget the client of a process; those that may still show the session, the one heard first before the others."""
        with self._lock:
            heard = self._clients.get(session, {})
            if pid is not None:
                heard.pop(pid, None)
            return tuple(client for client, at in heard.values() if _may_show(client, at, now))

    def forget_clients(self, session: str) -> None:
        """Know no client of a session that was closed; whoever shows it still will speak again."""
        with self._lock:
            self._clients.pop(session, None)


def _is_recent(heard: datetime, now: datetime) -> bool:
    """Whether a client was heard of late, wherever the clock was set meanwhile."""
    return abs(now - heard) < SILENT_AFTER


def _may_show(client: Client, heard: datetime, now: datetime) -> bool:
    """Whether a client may still show a session: its process lives, or was heard of late and is not proven to be gone."""
    life = Life.UNKNOWN if client.process is None else process_life(client.process)
    return life is Life.ALIVE or (life is Life.UNKNOWN and _is_recent(heard, now))
