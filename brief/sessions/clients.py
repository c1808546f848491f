"""Which clients show a session. One that is resumed while another still shows it is open in both, under one id.

The first of them has it: the record of the episode follows that one alone, or it would flap between two checkouts.
"""

from __future__ import annotations

from datetime import datetime

from brief.core.sessions.episode import Client
from brief.core.sessions.life import SILENT_AFTER


class Clients:
    """When each client last spoke for a session, in memory; moments are aware. Safe to use from any thread."""

    def __init__(self) -> None:
        self._heard: dict[str, dict[int, tuple[Client, datetime]]] = {}

    def note(self, session: str, client: Client, now: datetime) -> bool:
        """Note that a client spoke for a session; whether it has it, which of those heard of late the first does."""
        heard = self._of_late(session, now) | {client.pid: (client, now)}
        self._heard[session] = heard
        return next(iter(heard)) == client.pid

    def of(self, session: str, now: datetime) -> tuple[Client, ...]:
        """The clients that were heard of late, the one that has the session first."""
        return tuple(client for client, _ in self._of_late(session, now).values())

    def forget(self, session: str) -> None:
        """Know nothing of a session that was closed; whoever shows it still will speak again."""
        self._heard.pop(session, None)

    def _of_late(self, session: str, now: datetime) -> dict[int, tuple[Client, datetime]]:
        heard = self._heard.get(session, {})
        return {pid: (client, at) for pid, (client, at) in heard.items() if abs(now - at) < SILENT_AFTER}
