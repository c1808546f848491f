"""Episodes and tasks as rows. No other module knows their SQL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeVar

from msgspec import ValidationError

from brief.core.model.errors import ConflictError, NotFoundError, StoreError
from brief.core.model.first_fault import first_fault
from brief.core.model.wire import Wire, from_plain, to_json
from brief.core.sessions.episode import Ended, Episode
from brief.core.sessions.succession import leaves_successor
from brief.core.sessions.task import Task
from brief.sessions.database import Database

_EPISODE = "id, provider, checkout, branch, process, state, since, heard, closed, closed_reason"
_TASK = "episode, title, scope, next_action, next_since, since, done"

Record = TypeVar("Record", bound=Wire)


def put_episode(database: Database, episode: Episode) -> None:
    """Store an episode, replacing one with the same id. Not durable: its process does not survive a power cut either."""
    with database.write(durable=False) as connection:
        write_episode(connection, episode)


def close_episode(database: Database, episode: Episode, most: int) -> None:
    """Store an episode that has ended, and delete all closed episodes but the last `most`.

    Its waiting prompt is deleted, and so are its claims, unless a successor gets them. Its tasks, wakes and ledger are
    deleted together with the episode.
    """
    with database.write() as connection:
        write_episode(connection, episode)
        if not leaves_successor(episode.closed_reason):
            connection.execute("DELETE FROM claims WHERE episode = ?", (episode.id,))
        connection.execute("UPDATE wakes SET prompt = NULL WHERE episode = ?", (episode.id,))
        older = "SELECT id FROM episodes WHERE closed IS NOT NULL ORDER BY closed DESC, id LIMIT -1 OFFSET ?"
        connection.execute(f"DELETE FROM tasks WHERE episode IN ({older})", (most,))
        connection.execute(f"DELETE FROM claims WHERE episode IN ({older})", (most,))
        connection.execute(f"DELETE FROM episodes WHERE id IN ({older})", (most,))


def ended_sessions(database: Database, found: Collection[str]) -> dict[str, Ended]:
    """The closed episodes whose end was reported, by id. `found` are the reasons that the server found out by itself."""
    query = "SELECT id, closed, json_extract(process, '$.pid') FROM episodes WHERE closed IS NOT NULL AND closed_reason"
    with database.read() as connection:
        rows = connection.execute(f"{query} NOT IN ({', '.join('?' * len(found))})", tuple(found)).fetchall()
    return {row[0]: Ended(datetime.fromisoformat(row[1]), row[2]) for row in rows}


def write_episode(connection: sqlite3.Connection, episode: Episode) -> None:
    """Write the row of an episode in the caller's transaction."""
    process = to_json(episode.process) if episode.process else None
    values = (
        episode.id,
        episode.provider,
        episode.checkout,
        episode.branch,
        process,
        episode.state.value,
        _spell_time(episode.since),
        _spell_time(episode.heard),
        _spell_time(episode.closed) if episode.closed else None,
        episode.closed_reason,
    )
    connection.execute(
        f"INSERT INTO episodes ({_EPISODE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET provider = excluded.provider, checkout = excluded.checkout, "
        "branch = excluded.branch, process = excluded.process, state = excluded.state, since = excluded.since, "
        "heard = excluded.heard, closed = excluded.closed, closed_reason = excluded.closed_reason",
        values,
    )


def get_episode(database: Database, episode_id: str) -> Episode | None:
    """The episode with this id, open or closed."""
    with database.read() as connection:
        row = connection.execute(f"SELECT {_EPISODE} FROM episodes WHERE id = ?", (episode_id,)).fetchone()
    return _read_episode(row) if row else None


def open_episodes(database: Database) -> tuple[Episode, ...]:
    """Every open episode of the repository, oldest first."""
    with database.read() as connection:
        rows = connection.execute(f"SELECT {_EPISODE} FROM episodes WHERE closed IS NULL ORDER BY since, id")
        return tuple(_read_episode(row) for row in rows)


def closed_episodes(database: Database, most: int) -> tuple[Episode, ...]:
    """The last `most` closed episodes, latest first."""
    with database.read() as connection:
        rows = connection.execute(
            f"SELECT {_EPISODE} FROM episodes WHERE closed IS NOT NULL ORDER BY closed DESC, id LIMIT ?", (most,)
        )
        return tuple(_read_episode(row) for row in rows)


def set_task(database: Database, task: Task) -> None:
    """Make a task the current one of its episode. The task before it ends at the same time."""
    with database.write() as connection:
        _end_current(connection, task.episode, task.since)
        connection.execute(f"INSERT INTO tasks ({_TASK}) VALUES (?, ?, ?, ?, ?, ?, ?)", _task_values(task))


def set_next(database: Database, episode_id: str, next_action: str, now: datetime) -> Task:
    """Set the next action of an episode's current task. Raises NotFoundError if it has none."""
    with database.write() as connection:
        connection.execute(
            "UPDATE tasks SET next_action = ?, next_since = ? WHERE episode = ? AND done IS NULL",
            (next_action, _spell_time(now), episode_id),
        )
        return _require_task(connection, episode_id)


def end_task(database: Database, episode_id: str, now: datetime) -> Task:
    """End the current task of an episode, and return it as it ended. Raises NotFoundError if it has none."""
    with database.write() as connection:
        task = _require_task(connection, episode_id)
        _end_current(connection, episode_id, now)
    return task.replace(done=now)


def current_task(database: Database, episode_id: str) -> Task | None:
    """The unfinished task of an episode, open or closed, or None."""
    with database.read() as connection:
        return _read_current(connection, episode_id)


def current_tasks(database: Database) -> dict[str, Task]:
    """The current tasks of the open episodes, by episode id."""
    with database.read() as connection:
        rows = connection.execute(
            f"SELECT {', '.join('tasks.' + name for name in _TASK.split(', '))} FROM tasks "
            "JOIN episodes ON episodes.id = tasks.episode WHERE tasks.done IS NULL AND episodes.closed IS NULL"
        )
        return {row[0]: _read_task(row) for row in rows}


def _read_current(connection: sqlite3.Connection, episode_id: str) -> Task | None:
    row = connection.execute(f"SELECT {_TASK} FROM tasks WHERE episode = ? AND done IS NULL", (episode_id,)).fetchone()
    return _read_task(row) if row else None


def _require_task(connection: sqlite3.Connection, episode_id: str) -> Task:
    task = _read_current(connection, episode_id)
    if task is None:
        raise NotFoundError(f"episode {episode_id} has no task; say what it works on with majordomus task set TITLE")
    return task


def _end_current(connection: sqlite3.Connection, episode_id: str, now: datetime) -> None:
    connection.execute("UPDATE tasks SET done = ? WHERE episode = ? AND done IS NULL", (_spell_time(now), episode_id))


def _read_episode(row: tuple[str, ...]) -> Episode:
    return _record(Episode, _EPISODE, row, "process")


def _read_task(row: tuple[str, ...]) -> Task:
    return _record(Task, _TASK, row, "scope")


def _record(kind: type[Record], columns: str, row: tuple[str | None, ...], as_json: str) -> Record:
    """The record in a row whose column `as_json` holds JSON. Raises StoreError if the row was not written by majordomus."""
    fields: dict[str, Any] = dict(zip(columns.split(", "), row, strict=True))
    try:
        return from_plain(kind, {**fields, as_json: json.loads(fields[as_json] or "null")})
    except ValidationError as fault:
        why = f"its {first_fault(fault).where} is not a value that majordomus writes"
    except ValueError:
        why = f"its {as_json} is not JSON"
    raise StoreError(f"the stored {kind.__name__.lower()} of {row[0]} cannot be read: {why}; move majordomus.db away")


def _task_values(task: Task) -> tuple[str | None, ...]:
    return (
        task.episode,
        task.title,
        json.dumps(task.scope, ensure_ascii=False),
        task.next_action,
        _spell_time(task.next_since) if task.next_since else None,
        _spell_time(task.since),
        _spell_time(task.done) if task.done else None,
    )


def _spell_time(moment: datetime) -> str:
    """A moment as text of fixed width, so that texts sort like the moments."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def refuse_closed(database: Database, episode_id: str) -> NoReturn:
    """Raise ConflictError if the episode is closed, NotFoundError if it was never open."""
    ended = get_episode(database, episode_id)
    if ended is not None:
        raise ConflictError(
            f"episode {episode_id} is closed ({ended.closed_reason}); open it again with "
            f"majordomus episode open --session {episode_id}"
        )
    raise NotFoundError(
        f"no episode {episode_id} is open here; see majordomus episode list, or if that is a session's whole id, open it "
        f"with majordomus episode open --session {episode_id}"
    )
