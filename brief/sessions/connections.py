"""Connections to the file of a database: create it, switch it to WAL, and word what SQLite says against it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from brief.core.model.errors import StoreError
from brief.sessions.schema import make_tables, stored_generation
from brief.support.files import sync_folder

BUSY_MS = 1_000
OPEN_MS = 10_000
"""How long opening waits for the locks of others: this server must open, and its predecessor may still be closing."""
MOST_PATH_BYTES = 490
"""The longest path of a database: SQLite's 512 bytes, less the longer name under which it is created and `-journal`."""
CACHE_KB = 16_384
"""How many pages a writer keeps, at most. If its journal is damaged, what it still keeps is all that is left of it."""
_PAUSE_SECONDS = 0.005


def open_writable(path: Path, begin: Callable[[sqlite3.Connection], object]) -> sqlite3.Connection:
    """Open the database to write. If it is missing, create it, with what `begin` stores in it. Raises StoreError."""
    with contextlib.ExitStack() as failing:
        try:
            if not os.path.lexists(path):
                _create(path, begin)
            connection = connect(path)
            failing.callback(connection.close)
            os.chmod(path, 0o600)
            _switch_to_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        except (sqlite3.Error, OSError) as fault:
            raise StoreError(sentence_of(path, fault)) from fault
        failing.pop_all()
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection that waits for the locks of others. That is set first, since any statement may meet a lock."""
    return sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)


def _create(path: Path, begin: Callable[[sqlite3.Connection], object]) -> None:
    """Create the database under another name and link it into place, so that nobody opens an unfinished one."""
    descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    os.close(descriptor)
    try:
        with contextlib.closing(connect(Path(beside))) as connection:
            _switch_to_wal(connection)
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                make_tables(connection)
                begin(connection)
        with contextlib.suppress(FileExistsError):  # somebody was faster
            os.link(beside, path)
    finally:
        os.unlink(beside)
    sync_folder(path.parent)


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL. If others use the file meanwhile, SQLite fails at once whatever its time-out, so this retries."""
    end = time.monotonic() + OPEN_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as fault:
            if fault.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open the database to read. Raises StoreError."""
    # In a folder without write permission SQLite cannot create the shared memory of WAL. If no writer left a WAL either,
    # the database is the file alone.
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
        raise StoreError(sentence_of(path, fault)) from fault


def generation_in_file(path: Path) -> int | None:
    """The generation in the file alone, without its journal. None if it cannot be read, as during a checkpoint."""
    with contextlib.suppress(sqlite3.Error):
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            return stored_generation(connection)
    return None


def sentence_of(path: Path, fault: Exception) -> str:
    """What keeps the database from being used, and what to do, as a sentence."""
    length = len(os.fsencode(path))
    if length > MOST_PATH_BYTES:
        return f"{path} is a path of {length} bytes, and SQLite allows at most {MOST_PATH_BYTES}; move the repository to a shorter path"
    if getattr(fault, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
        return f"{path} cannot be written, since its disk is full; free space and try again: nothing stored is lost"
    return f"{path} cannot be used ({fault}); if this persists, move the file away and run majordomus serve ensure"
