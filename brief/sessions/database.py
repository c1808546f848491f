"""The database of a repository: SQLite in WAL mode, one writer, every write fenced by the epoch of the lease."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from brief.core.model.errors import StoreError, SupersededError
from brief.support.fence import refuse_if_superseded

SCHEMA_VERSION = 1
BUSY_MS = 1_000

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
"""


class Database:
    """A connection that any thread may use, one at a time.

    With an `epoch` it writes, and every write is refused once a newer epoch has been stored; without, it only reads.
    """

    def __init__(self, path: Path, epoch: int | None) -> None:
        self.path = path
        self.epoch = epoch
        self._lock = threading.Lock()
        self._connection = _writable(path) if epoch is not None else _read_only(path)
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        with self._told(), self._connection:
            if self.epoch is None:
                self._refuse_other_schema()
            else:
                self._claim(self.epoch)

    def _claim(self, epoch: int) -> None:
        """Make the tables where there are none, and store the epoch, all in one transaction."""
        self._connection.execute("BEGIN IMMEDIATE")
        if self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0:
            for statement in f"{_SCHEMA}PRAGMA user_version = {SCHEMA_VERSION}".split(";"):
                self._connection.execute(statement)
        self._refuse_other_schema()
        self._refuse_if_newer(epoch)
        self._connection.execute("UPDATE meta SET value = ? WHERE key = 'epoch'", (epoch,))

    def _refuse_other_schema(self) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version != SCHEMA_VERSION:
            raise StoreError(_other_version(self.path, version))

    def _refuse_if_newer(self, epoch: int) -> None:
        stored = self._connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()[0]
        if stored > epoch:
            raise SupersededError(
                f"epoch {stored} holds this repository now and {epoch} writes nothing more; "
                "run majordomus serve ensure and ask again"
            )

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction; raises SupersededError, and nothing is written, where a newer server holds the repository."""
        if self.epoch is None:
            raise StoreError(f"{self.path} was opened to be read only")
        with self._lock, self._told(), self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            self._refuse_if_newer(self.epoch)
            yield connection
            refuse_if_superseded()

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One consistent look at what is stored."""
        with self._lock, self._told():
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.rollback()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLite raises into a sentence."""
        try:
            yield
        except sqlite3.Error as fault:
            raise StoreError(_sentence(self.path, fault)) from fault

    def close(self) -> None:
        """Close the connection; the last writer leaves no journal files beside the database."""
        with self._lock:
            self._connection.close()


def check_integrity(path: Path) -> str | None:
    """What SQLite finds damaged in the database, None where it is whole; raises StoreError where it cannot be read."""
    with contextlib.closing(Database(path, epoch=None)) as database, database.read() as connection:
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    return None if found == "ok" else found


def stored_epoch(path: Path) -> int:
    """The highest epoch that ever wrote here; 0 where there is no database, or none that can be read."""
    if not path.exists():
        return 0
    with contextlib.suppress(StoreError):
        database = Database(path, epoch=None)
        try:
            with database.read() as connection:
                return int(connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()[0])
        finally:
            database.close()
    return 0


def _writable(path: Path) -> sqlite3.Connection:
    with contextlib.ExitStack() as failing:
        try:
            connection = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
            failing.callback(connection.close)
            os.chmod(path, 0o600)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
        except (sqlite3.Error, OSError) as fault:
            raise StoreError(_sentence(path, fault)) from fault
        failing.pop_all()
    return connection


def _read_only(path: Path) -> sqlite3.Connection:
    # In a folder that nobody can write, SQLite cannot make the shared memory of WAL; where no writer left a WAL either,
    # the file by itself is all that there is.
    alone = not os.path.exists(f"{path}-wal") and not os.access(path.parent, os.W_OK)
    frozen = "&immutable=1" if alone else ""
    try:
        return sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro{frozen}",
            uri=True,
            timeout=BUSY_MS / 1000,
            isolation_level=None,
            check_same_thread=False,
        )
    except sqlite3.Error as fault:
        raise StoreError(_sentence(path, fault)) from fault


def _other_version(path: Path, version: int) -> str:
    if version == 0:
        return f"{path} is no database of majordomus; move it away and run majordomus serve ensure"
    return (
        f"{path} has schema {version} and this majordomus knows {SCHEMA_VERSION}; "
        "use the newer majordomus, or move the file away to begin anew"
    )


def _sentence(path: Path, fault: Exception) -> str:
    return f"{path} cannot be used ({fault}); if that stays so, move the file away and run majordomus serve ensure"
