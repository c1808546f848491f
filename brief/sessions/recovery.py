"""Recovery from a lost or damaged database: move a damaged one aside, and describe what was lost.

Only the holder of the lease calls this, before it opens the database. Nothing that may still be readable is deleted.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from brief.core.model.errors import StoreError
from brief.core.text.sanitize import clean, wire
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.fastpath.proof import read_file
from brief.fastpath.reach import LOCK
from brief.sessions.database import Database, is_damage
from brief.support.files import create, reason_of

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

ASIDE = ".damaged-"
"""Stands between the name of a database and the time at which it was moved aside."""

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_MOST_RECORD = 4_096
_SMALL_BYTES = 16 * 1024 * 1024
"""A database up to this size is checked at every start, which takes a few milliseconds."""

_BESIDE = ("", "-wal", "-shm")


def recover(path: Path, now: datetime, *, was_there: bool) -> str | None:
    """Move a damaged database at `path` aside, and return a sentence about what was lost. None if nothing was.

    `was_there` says whether an earlier server stored something. Raises StoreError if the database cannot be moved aside.
    """
    _remove_unfinished(path)
    damage = _damage(path)
    if damage is None:
        return None if os.path.lexists(path) or not was_there else _describe_loss(path)
    aside = _free_name(path, now)
    try:
        for beside in _BESIDE:
            with contextlib.suppress(FileNotFoundError):
                os.rename(f"{path}{beside}", f"{aside}{beside}")
    except OSError as fault:
        raise StoreError(f"{path} {damage} and cannot be moved aside: {reason_of(fault)}; move it away") from fault
    return f"{wire(str(path))} {damage}: it is kept as {aside.name}, and a new one was created"


def kept_aside(path: Path) -> tuple[str, ...]:
    """A sentence for each damaged or rescued database that is kept aside, oldest first."""
    try:
        names = sorted(name for name in os.listdir(path.parent) if name.startswith(path.name + ASIDE))
    except OSError:
        return ()
    databases = [name for name in names if not (name.endswith(_BESIDE[1:]) and name.rpartition("-")[0] in names)]
    databases = [name for name in databases if not name.endswith("-shm")]  # an index, in which nothing is stored
    return tuple(
        f"a damaged database is kept aside: {wire(str(path.parent / name))}; it may hold what the new one does not; "
        "remove it once you need nothing from it"
        for name in databases
    )


def lately_rescued(path: Path, now: datetime, within: timedelta) -> str | None:
    """A sentence if a server that lost its database put a copy of it aside that lately. None if none did."""
    sentences = kept_aside(path)
    if not sentences:
        return None
    try:
        newest = max(
            entry.stat().st_mtime for entry in os.scandir(path.parent) if entry.name.startswith(path.name + ASIDE)
        )
    except (OSError, ValueError):
        return None
    return sentences[-1] if abs(now.timestamp() - newest) < within.total_seconds() else None


def rescue(database: Database, now: datetime) -> Path | None:
    """Save the database that an ending server still holds open although its file or journal was taken from it.

    Returns the path of the copy. Where only the journal was overwritten, and nothing whole can be copied any more, that
    journal is kept. None if both are still in their place, or cannot be copied.
    """
    if not database.was_moved() and not database.is_journal_lost:
        return None
    aside = _free_name(database.path, now)
    try:
        database.copy_to(aside)
        if _check_integrity(aside) is None:
            return aside
    except (StoreError, OSError):
        pass
    with contextlib.suppress(OSError):
        os.unlink(aside)
    return _keep_journal(database.path, aside) if database.is_journal_lost else None


def _keep_journal(path: Path, aside: Path) -> Path | None:
    kept = Path(f"{aside}-wal")
    try:
        with open(f"{path}-wal", "rb", opener=_not_following) as journal:
            create(kept, journal.read(_SMALL_BYTES))
    except OSError:
        return None
    return kept


def notes_database(record: bytes) -> bool:
    """Whether the record that a holder wrote into `lease.lock` says that there is a database, which must not be missing."""
    try:
        holder = json.loads(record)
    except (ValueError, RecursionError):
        return False
    return isinstance(holder, dict) and holder.get("database") is True


def had_database(state_dir: str) -> Reading[bool]:
    """Whether an earlier server stored something in the folder. Absent if there never was a server."""
    try:
        return Known(notes_database(read_file(state_dir, LOCK, _MOST_RECORD)))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as fault:
        return Unknown(f"{LOCK} cannot be read ({fault.strerror or fault})")


def _describe_loss(path: Path) -> str:
    return (
        f"{wire(str(path))} was gone, although an earlier server had stored sessions, tasks and claims in it; "
        "a new one was created"
    )


def _damage(path: Path) -> str | None:
    """What is wrong with the file, as the end of a sentence. None if it is intact or missing, or if that is unknown."""
    try:
        with open(path, "rb", opener=_not_following) as file:
            header, size = file.read(_HEADER_BYTES), os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        return "was gone and left a journal behind" if _has_content(f"{path}-wal") else None
    except OSError:
        return None  # opening the database will say why
    if not header:
        return "was empty"
    if not header.startswith(_MAGIC):
        return "was not a database"
    return _check_integrity(path) if size <= _SMALL_BYTES or not _is_complete(header, size) else None


def _not_following(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def _has_content(path: str) -> bool:
    with contextlib.suppress(OSError):
        return os.stat(path, follow_symlinks=False).st_size > 0
    return False


def _is_complete(header: bytes, size: int) -> bool:
    """Whether the file has the length that its header says."""
    if len(header) < _HEADER_BYTES:
        return False
    page, pages = int.from_bytes(header[16:18]), int.from_bytes(header[28:32])
    return size == (65_536 if page == 1 else page) * pages


def _check_integrity(path: Path) -> str | None:
    """The damage that SQLite finds. If it cannot check the file, opening the database will say why."""
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=1.0, isolation_level=None)) as connection:
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as fault:
        return f"was damaged ({clean(str(fault))})" if is_damage(fault) else None
    return None if found == "ok" else f"was damaged ({clean(found, 200)})"


def _free_name(path: Path, now: datetime) -> Path:
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    names = (f"{path.name}{ASIDE}{stamp}{'' if count == 1 else f'-{count}'}" for count in range(1, 10_000))
    free = (path.with_name(name) for name in names)
    return next(each for each in free if not any(os.path.lexists(f"{each}{beside}") for beside in _BESIDE))


def _remove_unfinished(path: Path) -> None:
    """Remove what was left by a server that was killed while it created the database."""
    with contextlib.suppress(OSError):
        for name in os.listdir(path.parent):
            if name.startswith(f".{path.name}.") and name.endswith((".tmp", ".tmp-wal", ".tmp-shm", ".tmp-journal")):
                os.unlink(path.parent / name)
