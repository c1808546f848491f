"""Follow-ups as rows. No other module knows their SQL."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from brief.core.model.wire import from_plain
from brief.core.model.wire_time import wire_time
from brief.core.notices.follow_up import FollowUp
from brief.sessions.database import Database

_FOLLOW_UP = "number, session, checkout, text, since"


def put_follow_up(
    database: Database, session: str | None, checkout: str, text: str, now: datetime, key: str | None = None
) -> FollowUp:
    """Store an undelivered follow-up and, in the same transaction, that this key has had its follow-up."""
    with database.write() as connection:
        if key is not None:
            connection.execute("INSERT OR REPLACE INTO followed_up (key, since) VALUES (?, ?)", (key, wire_time(now)))
        number = connection.execute(
            "INSERT INTO follow_ups (session, checkout, text, since) VALUES (?, ?, ?, ?)",
            (session, checkout, text, wire_time(now)),
        ).lastrowid
    return FollowUp(number=number or 0, session=session, checkout=checkout, text=text, since=now)


def read_followed_up(database: Database) -> set[str]:
    """The keys that have had their follow-up and were not reopened since."""
    with database.read() as connection:
        return {str(key) for (key,) in connection.execute("SELECT key FROM followed_up")}


def forget_followed_up(database: Database, key: str) -> None:
    """Allow another follow-up for this key."""
    with database.write() as connection:
        connection.execute("DELETE FROM followed_up WHERE key = ?", (key,))


def drop_follow_ups(database: Database, numbers: Collection[int]) -> None:
    """Delete delivered follow-ups. If a power cut undoes this, they are delivered again."""
    with database.write(durable=False) as connection:
        connection.executemany("DELETE FROM follow_ups WHERE number = ?", [(number,) for number in numbers])


def waiting_follow_ups(database: Database) -> tuple[FollowUp, ...]:
    """Every undelivered follow-up, oldest first."""
    with database.read() as connection:
        rows = connection.execute(f"SELECT {_FOLLOW_UP} FROM follow_ups ORDER BY number").fetchall()
    return tuple(from_plain(FollowUp, dict(zip(_FOLLOW_UP.split(", "), row, strict=True))) for row in rows)
