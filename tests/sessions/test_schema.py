"""A database of an earlier version: every row is kept, in one transaction or not at all, and every fault is a sentence."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from brief.core.model.errors import StoreError, SupersededError
from brief.sessions import database as database_module
from brief.sessions.board import Board
from brief.sessions.database import Database, stored_epoch
from brief.sessions.recovery import ASIDE, recover
from brief.sessions.schema import SCHEMA_VERSION
from brief.sessions.stored import StoredSessions

AT = datetime(2026, 11, 30, 8, tzinfo=UTC)
STAMP = AT.isoformat()

FIRST_VERSION = """
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
CREATE TABLE signals (
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
PRAGMA user_version = 1;
"""
"""The tables as the first version made them, to the letter."""

LATER_ADDED = "CREATE TABLE followed_up (key TEXT PRIMARY KEY, since TEXT NOT NULL) STRICT"
"""What some databases of the first version have, since it was added without a number of its own."""

ROWS = (
    ("INSERT INTO episodes VALUES ('ann', 'claude-code', '/r', 'main', ?, 'idle', ?, ?, NULL, NULL)",
     (json.dumps({"pid": 7, "start": 11, "boot": "b"}), STAMP, STAMP)),
    ("INSERT INTO episodes VALUES ('bob', 'claude-code', '/r', NULL, NULL, 'busy', ?, ?, ?, 'its client ended it')",
     (STAMP, STAMP, STAMP)),
    ("INSERT INTO tasks VALUES (1, 'ann', 'older', '[]', NULL, NULL, ?, ?)", (STAMP, STAMP)),
    ("INSERT INTO tasks VALUES (2, 'ann', 'mend the login', '[\"src\"]', 'run the tests', ?, ?, NULL)", (STAMP, STAMP)),
    ("INSERT INTO signals VALUES (8, 'bob', '/r', 'told and gone', ?)", (STAMP,)),
    ("DELETE FROM signals", ()),
    ("INSERT INTO signals (session, checkout, text, since) VALUES ('ann', '/r', 'fixed in T-1', ?)", (STAMP,)),
    ("INSERT INTO claims VALUES ('ann', 'login', 'rewrite it', '[\"src/login\"]', ?)", (STAMP,)),
    ("INSERT INTO wakes VALUES ('ann', ?, 3, 0, ?, 'facts', ?, NULL)",
     (STAMP, STAMP, json.dumps({"id": "p1", "text": "[brief]", "facts": "f", "composed": STAMP, "offered": None, "failures": 1}))),
    ("INSERT INTO ledger VALUES ('ann', 'wake', 'queued', 4, 0, ?)", (STAMP,)),
    ("INSERT INTO meta VALUES ('wakes_paused', 1764489600000000)", ()),
    ("UPDATE meta SET value = 5 WHERE key = 'epoch'", ()),
)  # fmt: skip
"""A row of each kind, as the first version stored it."""


def first_version(path: Path, *added: str) -> None:
    """Make the database of a server of the first version that ended."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(FIRST_VERSION + ";".join(added))
        for statement, values in ROWS:
            connection.execute(statement, values)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of the first version."""
    path = tmp_path / "majordomus.db"
    first_version(path)
    return path


@contextlib.contextmanager
def opened(path: Path, epoch: int = 6) -> Iterator[Database]:
    """A database as a server opens it, closed at the end."""
    with contextlib.closing(Database(path, epoch)) as database:
        yield database


def dump(path: Path) -> list[str]:
    """All that the file holds, as statements."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [f"{connection.execute('PRAGMA user_version').fetchone()[0]}", *connection.iterdump()]


def test_every_row_is_kept(path: Path) -> None:
    """Episodes, tasks, claims, follow-ups, wakes, ledger and the pause of all are what they were."""
    with opened(path) as database:
        board = Board(database)
        ann = board.require_open("ann")
        assert (ann.branch, ann.since, ann.process and ann.process.pid) == ("main", AT, 7)
        assert board.ended_sessions()["bob"].at == AT
        assert (board.tasks()["ann"].title, board.tasks()["ann"].next_action) == ("mend the login", "run the tests")
        assert [(claim.episode, claim.name, claim.scope) for claim in board.claims()] == [
            ("ann", "login", ("src/login",))
        ]
        assert [(one.number, one.session, one.text) for one in board.follow_ups("ann")] == [(9, "ann", "fixed in T-1")]
        wakes = board.wakes.get("ann")
        assert wakes is not None
        assert wakes.prompt is not None
        assert (wakes.anchor.wall, wakes.unprompted, wakes.facts_read, wakes.prompt.failures) == (AT, 3, "facts", 1)
        assert [(line.detail, line.count) for line in board.wakes.ledger("ann")] == [("queued", 4)]
        assert board.wakes.all_paused() is not None
        with database.read() as connection:
            assert connection.execute("SELECT count(*) FROM tasks").fetchone() == (2,)


def test_migrated_database_is_that_of_this_version(path: Path, tmp_path: Path) -> None:
    """A migrated database has the tables of a new one, and numbers that were given are never given again."""
    with opened(path) as database:
        board = Board(database)
        board.follow_up("ann", "/r", "one more", AT + timedelta(hours=1))
        assert [one.number for one in board.follow_ups("ann")] == [9, 10]
    with opened(tmp_path / "new.db"):
        pass
    names = "SELECT type, name FROM sqlite_schema ORDER BY 1, 2"
    columns = "SELECT m.name, p.name, p.type FROM sqlite_schema AS m, pragma_table_info(m.name) AS p ORDER BY 1, p.cid"
    with (
        contextlib.closing(sqlite3.connect(path)) as ours,
        contextlib.closing(sqlite3.connect(tmp_path / "new.db")) as new,
    ):
        for query in (names, columns, "PRAGMA user_version"):
            assert ours.execute(query).fetchall() == new.execute(query).fetchall()


def test_what_was_followed_up_already_is_kept(tmp_path: Path) -> None:
    """A database of the first version that has the table of what was followed up keeps its rows."""
    path = tmp_path / "majordomus.db"
    first_version(path, LATER_ADDED, f"INSERT INTO followed_up VALUES ('login 2026-11-30', '{STAMP}')")
    with opened(path) as database, database.read() as connection:
        assert connection.execute("SELECT key FROM followed_up").fetchall() == [("login 2026-11-30",)]


def test_it_is_read_where_no_server_runs(path: Path) -> None:
    """A command without a server reads a database of an earlier version, and leaves it as it is."""
    before = dump(path)
    stored = StoredSessions(path)
    path.parent.chmod(0o700)
    assert [known.episode.id for known in stored.open_episodes()] == ["ann"]
    assert stored.tasks()["ann"].title == "mend the login"
    assert [claim.name for claim in stored.claims()] == ["login"]
    assert stored_epoch(path) == 5
    assert dump(path) == before


def test_an_outdated_server_changes_nothing(path: Path) -> None:
    """A server that a newer one has superseded leaves the tables as they are."""
    before = dump(path)
    with pytest.raises(SupersededError, match="epoch 5 holds this repository"), opened(path, epoch=4):
        pass
    assert dump(path) == before


def test_step_that_fails_is_undone(path: Path) -> None:
    """If one step fails, none is taken, and the sentence says why."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE follow_ups (somebody TEXT)")
    before = dump(path)
    with (
        pytest.raises(StoreError, match=r"there is already another table.*follow_ups.*move the file away"),
        opened(path),
    ):
        pass
    assert dump(path) == before


def test_locked_database_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that somebody holds is reported as such once the wait is over, and is not changed."""
    monkeypatch.setattr(database_module, "OPEN_MS", 20)
    before = dump(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"cannot be used \(database is locked\)"), opened(path):
            pass
    assert dump(path) == before
    with opened(path) as database:
        assert Board(database).tasks()["ann"].title == "mend the login"


def test_cut_database_is_kept_aside(path: Path) -> None:
    """A truncated database of an earlier version is moved aside unchanged and reported, and a new one is begun."""
    os.truncate(path, path.stat().st_size - 4096)
    content = path.read_bytes()
    told = recover(path, AT, was_there=True)
    assert told is not None
    assert "was damaged" in told
    with opened(path) as database:
        assert Board(database).open_episodes() == ()
    (aside,) = path.parent.glob(f"*{ASIDE}*")
    assert aside.read_bytes() == content


def test_later_schema_is_left_alone(path: Path) -> None:
    """A database that a later majordomus made is neither changed nor moved, and the sentence says which to use."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = dump(path)
    assert recover(path, AT, was_there=True) is None
    with pytest.raises(
        StoreError, match=f"has schema {SCHEMA_VERSION + 1} and this majordomus knows {SCHEMA_VERSION}; use the newer"
    ):
        Database(path, 6)
    assert dump(path) == before
