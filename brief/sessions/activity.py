"""The recent activity of sessions and their clients, in memory only: a new server starts without it and soon has it again.

A session that is resumed while another client still shows it is open in both, under one id. The first client owns it:
the record of the episode follows that client alone, or it would flap between two checkouts.
"""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from brief.core.sessions.episode import Client
from brief.core.sessions.life import SILENT_AFTER, Life
from brief.sessions.losses import UNHEARD
from brief.sessions.processes import process_life
from brief.support.recent_map import RecentMap

MOST = 2_000
"""How many entries each map remembers. The clients of a session are not limited: they are kept while it is open."""

SERVED_FOR = timedelta(minutes=2)
"""For how long a mod that has served a session makes a settings hook of the same client unnecessary."""

Scope = Literal["project", "user"]
"""Whether a channel is installed for the sessions of one checkout, or for all sessions of a person."""


class Channel(NamedTuple):
    """A mod or hook that asks on behalf of a session. `draft` says whether the prompt box held text when it asked."""

    scope: Scope
    draft: bool


class Activity:
    """What was heard recently. Safe to use from any thread. All datetimes are aware."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._served: RecentMap[str, datetime] = RecentMap(MOST)
        self._channels: RecentMap[str, Channel] = RecentMap(MOST)
        self._waiting: RecentMap[str, float] = RecentMap(MOST)
        self._clients: dict[str, dict[int, tuple[Client, datetime]]] = {}
        self._missing: tuple[str, float] | None = None

    # ---------------------------------------------------------------- after a loss

    def note_missing(self, why: str) -> None:
        """Note that sessions may be missing, until every one that lives must have been heard again."""
        self._missing = (why, time.monotonic() + SILENT_AFTER.total_seconds())

    def keep_missing(self, why: str, seconds: float) -> None:
        """Note that sessions are still missing, so that `why` counts for at least so many seconds more."""
        until = time.monotonic() + seconds
        self._missing = (why, until if self._missing is None else max(until, self._missing[1]))

    def missing(self) -> str | None:
        """Why open sessions may be missing. None if none are."""
        if self._missing is None or time.monotonic() > self._missing[1]:
            return None
        return f"{UNHEARD}: {self._missing[0]}"

    # ---------------------------------------------------------------- mods and hooks

    def note_served(self, session: str, now: datetime) -> None:
        """Note that a mod has served a session, so that a settings hook of the same client need not repeat it."""
        with self._lock:
            self._served[session] = now

    def is_served(self, session: str, now: datetime) -> bool:
        """Whether a mod has served the session within `SERVED_FOR`. A clock that is set back does not extend that."""
        at = self._served.get(session)
        return at is not None and abs(now - at) < SERVED_FOR

    def note_channel(self, session: str, scope: Scope, *, draft: bool = False) -> None:
        """Note what the channel of a session reports about itself: its scope, and a draft that holds a wake back."""
        with self._lock:
            self._channels[session] = Channel(scope, draft)

    def channel(self, session: str) -> Channel | None:
        """The channel of a session. None if none has asked, so that no wake could be delivered."""
        return self._channels.get(session)

    def note_waiting(self, client: str, since: float) -> bool:
        """Note that a process waits beside a client to wake its session. False if another one has started later.

        `since` is when it started, in seconds of a monotonic clock that all processes of the machine share.
        """
        with self._lock:
            last = max(since, self._waiting.get(client, since))
            self._waiting[client] = last
            return last == since

    # ---------------------------------------------------------------- the clients that show a session

    def note_client(self, session: str, client: Client, now: datetime) -> bool:
        """Note that a client called for a session. Whether it owns the session: the first recently heard client does."""
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
        """Whether a client with this process number has called for the session."""
        with self._lock:
            return pid in self._clients.get(session, {})

    def clients(self, session: str, now: datetime) -> tuple[Client, ...]:
        """The clients that were heard recently, the owner of the session first."""
        with self._lock:
            return tuple(client for client, at in self._clients.get(session, {}).values() if _is_recent(at, now))

    def remove_client(self, session: str, pid: int | None, now: datetime) -> tuple[Client, ...]:
        """Forget a client, and return those that may still show the session, in the order in which they were first heard."""
        with self._lock:
            heard = self._clients.get(session, {})
            if pid is not None:
                heard.pop(pid, None)
            return tuple(client for client, at in heard.values() if _may_show(client, at, now))

    def forget_clients(self, session: str) -> None:
        """Forget all clients of a closed session. A client that still shows it will call again."""
        with self._lock:
            self._clients.pop(session, None)


def _is_recent(heard: datetime, now: datetime) -> bool:
    """Whether a client was heard recently, even if the clock was set since."""
    return abs(now - heard) < SILENT_AFTER


def _may_show(client: Client, heard: datetime, now: datetime) -> bool:
    """Whether a client may still show a session: its process is alive, or is unknown and was heard recently."""
    life = Life.UNKNOWN if client.process is None else process_life(client.process)
    return life is Life.ALIVE or (life is Life.UNKNOWN and _is_recent(heard, now))
