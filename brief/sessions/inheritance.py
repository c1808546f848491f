"""What a session leaves to its successor in the same client. Only this module knows the SQL for it."""

from __future__ import annotations

from brief.core.sessions.episode import Episode
from brief.core.sessions.succession import successor_of
from brief.sessions.database import Database
from brief.sessions.episodes import write_episode


def pass_on(database: Database, before: Episode, after: Episode) -> None:
    """Store both episodes, and pass the task, claims and follow-ups of `before` to `after`, which keeps any of its own.

    One transaction, so that a kill leaves all or nothing. The record of `before`, which is closed, names its successor:
    nobody takes over from it again, and what lies in files can be passed on later (`handlers/succession.py`).
    """
    with database.write() as connection:
        write_episode(connection, after)
        write_episode(connection, before)
        has_task = "SELECT 1 FROM tasks WHERE episode = :after AND done IS NULL"
        for statement in (
            f"UPDATE tasks SET episode = :after WHERE episode = :before AND done IS NULL AND NOT EXISTS ({has_task})",
            "UPDATE OR IGNORE claims SET episode = :after WHERE episode = :before",
            "DELETE FROM claims WHERE episode = :before",
            "UPDATE follow_ups SET session = :after WHERE session = :before",
            "UPDATE wakes SET prompt = NULL WHERE episode = :before",
        ):
            connection.execute(statement, {"before": before.id, "after": after.id})


def successors(database: Database) -> dict[str, str]:
    """Map the id of each stored episode that another took over from to the id of its successor."""
    with database.read() as connection:
        rows = connection.execute("SELECT id, closed_reason FROM episodes WHERE closed IS NOT NULL").fetchall()
    return {before: after for before, reason in rows if (after := successor_of(reason)) is not None}
