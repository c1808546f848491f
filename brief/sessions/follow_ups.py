"""Signals as rows: the only module that knows their SQL."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from brief.core.model.brief import wire_time
from brief.core.notices.follow_up import FollowUp
from brief.sessions.database import Database

_SIGNAL = "number, session, checkout, text, since"


def put_signal(database: Database, session: str | None, checkout: str, text: str, now: datetime) -> FollowUp:
    """Store a signal that nobody was told yet."""
    with database.write() as connection:
        number = connection.execute(
            "INSERT INTO signals (session, checkout, text, since) VALUES (?, ?, ?, ?)",
            (session, checkout, text, wire_time(now)),
        ).lastrowid
    return FollowUp(number=number or 0, session=session, checkout=checkout, text=text, since=now)


def drop_signals(database: Database, numbers: Collection[int]) -> None:
    """Forget signals that were told; where a power cut undoes it, they are told again."""
    with database.write(durable=False) as connection:
        connection.executemany("DELETE FROM signals WHERE number = ?", [(number,) for number in numbers])


def waiting_signals(database: Database) -> tuple[FollowUp, ...]:
    """Every signal that nobody was told yet, the oldest first."""
    with database.read() as connection:
        rows = connection.execute(f"SELECT {_SIGNAL} FROM signals ORDER BY number").fetchall()
    return tuple(FollowUp.model_validate(dict(zip(_SIGNAL.split(", "), row, strict=True))) for row in rows)
