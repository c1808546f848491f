"""The tables of the database, and the migrations from earlier versions, which lose no row."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from brief.core.model.errors import StoreError

SCHEMA_VERSION = 2
"""Stored in the file as `user_version`. 0 means that majordomus did not create the file."""

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
INSERT INTO meta VALUES ('epoch', 0);
CREATE TABLE episodes (
    id TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    checkout TEXT NOT NULL,
    branch TEXT,
    process TEXT,
    state TEXT NOT NULL,
    since TEXT NOT NULL,
    heard TEXT NOT NULL,
    closed TEXT,
    closed_reason TEXT
) STRICT;
CREATE INDEX episodes_open ON episodes (checkout) WHERE closed IS NULL;
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY,
    episode TEXT NOT NULL REFERENCES episodes (id),
    title TEXT NOT NULL,
    scope TEXT NOT NULL,
    next_action TEXT,
    next_since TEXT,
    since TEXT NOT NULL,
    done TEXT
) STRICT;
CREATE UNIQUE INDEX tasks_current ON tasks (episode) WHERE done IS NULL;
CREATE TABLE follow_ups (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT,
    checkout TEXT NOT NULL,
    text TEXT NOT NULL,
    since TEXT NOT NULL
) STRICT;
CREATE TABLE claims (
    episode TEXT NOT NULL REFERENCES episodes (id),
    name TEXT NOT NULL,
    intent TEXT NOT NULL,
    scope TEXT NOT NULL,
    since TEXT NOT NULL,
    PRIMARY KEY (episode, name)
) STRICT;
CREATE TABLE wakes (
    episode TEXT PRIMARY KEY REFERENCES episodes (id) ON DELETE CASCADE,
    anchor TEXT NOT NULL,
    unprompted INTEGER NOT NULL,
    stopped INTEGER NOT NULL,
    briefed TEXT,
    told TEXT,
    prompt TEXT,
    paused TEXT
) STRICT;
CREATE TABLE ledger (
    episode TEXT NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL,
    count INTEGER NOT NULL,
    size INTEGER NOT NULL,
    last TEXT NOT NULL,
    PRIMARY KEY (episode, kind, detail)
) STRICT;
CREATE TABLE followed_up (key TEXT PRIMARY KEY, since TEXT NOT NULL) STRICT;
"""

_LOSSES = "CREATE TABLE IF NOT EXISTS losses (at TEXT NOT NULL, reason TEXT NOT NULL, UNIQUE (at, reason)) STRICT"
"""A table that came without a number of its own, since every version of majordomus can open a database with or without it."""

_STEPS = {
    1: (
        "CREATE TABLE IF NOT EXISTS followed_up (key TEXT PRIMARY KEY, since TEXT NOT NULL) STRICT",
        "ALTER TABLE signals RENAME TO follow_ups",
    ),
}
"""For each earlier version, the statements that migrate it to the next."""


def make_tables(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty file, in the caller's transaction."""
    _run(connection, f"{_SCHEMA}{_LOSSES};PRAGMA user_version = {SCHEMA_VERSION}".split(";"))


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """Create the tables in an empty file, or migrate those of an earlier version, in the caller's transaction.

    Raises StoreError, before it changes anything, if the file has a later version or belongs to another program.
    """
    if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0:
        make_tables(connection)
    for version in range(readable_version(connection, path), SCHEMA_VERSION):
        _run(connection, (*_STEPS[version], f"PRAGMA user_version = {version + 1}"))
    connection.execute(_LOSSES)


def salvage(damaged: sqlite3.Connection, empty: sqlite3.Connection) -> int:
    """Copy every row that can be read from either end of each table into an empty file. Returns their number."""
    make_tables(empty)
    tables = [str(name) for (name,) in empty.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    found = 0
    with empty:
        empty.execute("BEGIN")
        for table in tables:
            if table == "meta" or table.startswith("sqlite_"):
                continue
            for order in ("ASC", "DESC"):
                with contextlib.suppress(sqlite3.Error):
                    for row in damaged.execute(f"SELECT * FROM {table} ORDER BY rowid {order}"):
                        marks = ", ".join("?" * len(row))
                        found += empty.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row).rowcount
    return found


def stored_generation(connection: sqlite3.Connection) -> int:
    """The generation of the database, which grows whenever a server opens or closes it. 0 if none was ever stored."""
    found = connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    return 0 if found is None else int(found[0])


def put_generation(connection: sqlite3.Connection, generation: int) -> None:
    """Store the generation, in the caller's transaction."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('generation', ?)", (generation,))


def _run(connection: sqlite3.Connection, statements: Iterable[str]) -> None:
    for statement in statements:
        connection.execute(statement)


def readable_version(connection: sqlite3.Connection, path: Path) -> int:
    """The version of the tables. Raises StoreError if it is a later one, or the file belongs to another program.

    The tables that are read without a migration (epoch, episodes, tasks, claims) are the same in every version.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version < 1:
        raise StoreError(f"{path} is not a database of majordomus; move it away and run majordomus serve ensure")
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} has schema {version} and this majordomus knows {SCHEMA_VERSION}; "
            "use the newer majordomus, or move the file away to start afresh"
        )
    return version
