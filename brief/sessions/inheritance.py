"""What a session leaves to the one that goes on in its client: the only module that knows the SQL of that."""

from __future__ import annotations

from brief.core.sessions.succession import succeeded
from brief.sessions.database import Database


def pass_on(database: Database, before: str, after: str) -> None:
    """Give the task, the claims and what is owed to one episode to another, which keeps its own task and claims.

    The record of the one before says where it went, so that nobody takes over from it again.
    """
    with database.write() as connection:
        has_task = "SELECT 1 FROM tasks WHERE episode = :after AND done IS NULL"
        for statement in (
            f"UPDATE tasks SET episode = :after WHERE episode = :before AND done IS NULL AND NOT EXISTS ({has_task})",
            "UPDATE OR IGNORE claims SET episode = :after WHERE episode = :before",
            "DELETE FROM claims WHERE episode = :before",
            "UPDATE follow_ups SET session = :after WHERE session = :before",
            "UPDATE episodes SET closed_reason = :reason WHERE id = :before",
        ):
            connection.execute(statement, {"before": before, "after": after, "reason": succeeded(after)})
