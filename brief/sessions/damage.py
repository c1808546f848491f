"""Whether the file of a database, or its journal, was damaged, as a new connection sees it."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from brief.core.model.errors import StoreError
from brief.sessions.connections import open_read_only, sentence_of
from brief.sessions.schema import stored_generation

DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""The codes by which SQLite says that a file is not an intact database."""


def is_damage(fault: sqlite3.Error) -> bool:
    """Whether SQLite says that the file is not an intact database."""
    code = getattr(fault, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in DAMAGED


def find_change(path: Path) -> tuple[str | None, int | None]:
    """How the file was overwritten, as the end of a sentence, None if it is an intact database of ours; and its generation.

    This opens a new connection, since an open one keeps using the pages that it has cached. Raises StoreError if the file
    cannot be read.
    """
    try:
        with contextlib.closing(open_read_only(path)) as connection:
            damage = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            generation = stored_generation(connection)
    except sqlite3.Error as fault:
        if is_damage(fault) or "no such table" in str(fault):
            return f"was overwritten ({fault})", None
        raise StoreError(sentence_of(path, fault)) from fault
    if damage != "ok":
        return f"was overwritten ({' '.join(damage.split())[:200]})", None
    return None, generation


def is_journal_damaged(path: Path) -> bool:
    """Whether the database cannot be read in full through its journal. Raises StoreError if that is unknown.

    A lock of others, a read that fails, or descriptors that have run out prove nothing.
    """
    try:
        with contextlib.closing(open_read_only(path)) as connection:
            return str(connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok"
    except sqlite3.Error as fault:
        if is_damage(fault) or fault.sqlite_errorcode == sqlite3.SQLITE_IOERR_SHORT_READ:
            return True
        raise StoreError(sentence_of(path, fault)) from fault
