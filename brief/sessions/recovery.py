"""Recovery from a lost or damaged database: move a damaged one aside, and describe what was lost.

Only the holder of the lease calls this, before it opens the database. Nothing that may still be readable is deleted.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import stat
from datetime import UTC, datetime
from pathlib import Path

from brief.core.model.errors import StoreError
from brief.core.text.sanitize import clean, to_wire
from brief.sessions.connections import generation_in_file
from brief.sessions.damage import is_damage
from brief.sessions.database import Database
from brief.sessions.losses import LockRecord, Loss
from brief.support.files import create, reason_of

ASIDE = ".damaged-"
"""Stands between the name of a database and the time at which it was moved aside."""

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_SMALL_BYTES = 16 * 1024 * 1024
"""A database up to this size is checked at every start, which takes a few milliseconds."""

_BESIDE = ("", "-wal", "-shm")

_UNFINISHED = re.compile(r"\.majordomus\.db\.[a-z0-9_]{8}\.tmp(-wal|-shm|-journal)?")
"""The names under which a database is created before it is linked into place."""


def find_losses(path: Path, now: datetime, noted: LockRecord) -> tuple[Loss, ...]:
    """Find what was lost since the last server noted its database at `path`. Moves a damaged database aside.

    Everything kept aside after a loss has the moment of the loss in its name. Raises StoreError.
    """
    at = now if noted.loss is None else noted.loss.at
    found = (
        _part_from_journal(path, at, noted.in_file)
        or recover(path, at, was_there=noted.had_database)
        or _find_rollback(path, noted.generation)
    )
    return (
        *(() if noted.loss is None else (noted.loss,)),
        *(() if found is None else (Loss(at, found),)),
    )


def _part_from_journal(path: Path, at: datetime, in_file: int | None) -> str | None:
    """Move the journal aside if the file that lies at the path is an earlier copy than the one to which it belongs.

    SQLite would write it over the copy, and damage that. Returns a sentence, None if nothing was moved.
    """
    found = None if in_file is None or not _has_content(f"{path}-wal") else generation_in_file(path)
    if found is None or in_file is None or found >= in_file:
        return None
    aside = _free_name(path, at)
    try:
        os.rename(f"{path}-wal", f"{aside}-wal")
    except OSError as fault:
        raise StoreError(f"{path}-wal belongs to another file and cannot be moved aside: {reason_of(fault)}") from fault
    return f"{_describe_rollback(path)}; its journal is kept as {aside.name}-wal"


def _find_rollback(path: Path, generation: int | None) -> str | None:
    """Like `describe_rollback`. If the database cannot be read, opening it will say why."""
    with contextlib.suppress(StoreError):
        if os.path.lexists(path):
            with contextlib.closing(Database(path, epoch=None)) as database:
                return describe_rollback(database, generation)
    return None


def describe_rollback(database: Database, generation: int | None) -> str | None:
    """A sentence if a database that was opened to read is older than the `generation` that the last server noted."""
    return None if generation is None or database.generation >= generation else _describe_rollback(database.path)


def _describe_rollback(path: Path) -> str:
    return f"{to_wire(str(path))} is an earlier copy of the one that the last server stored in; what was stored since is not in it"


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
    return f"{to_wire(str(path))} {damage}: it is kept as {aside.name}, and a new one was created"


def kept_aside(path: Path) -> tuple[str, ...]:
    """A sentence for each damaged or rescued database that is kept aside, oldest first."""
    try:
        names = sorted(name for name in os.listdir(path.parent) if name.startswith(path.name + ASIDE))
    except OSError:
        return ()
    databases = [name for name in names if not (name.endswith(_BESIDE[1:]) and name.rpartition("-")[0] in names)]
    databases = [name for name in databases if not name.endswith("-shm")]  # an index, in which nothing is stored
    return tuple(
        f"a damaged database is kept aside: {to_wire(str(path.parent / name))}; it may hold what the new one does not; "
        "remove it once you need nothing from it"
        for name in databases
    )


def rescue(database: Database, now: datetime) -> str | None:
    """Save the database that an ending server still holds open although its file or journal was taken from it.

    Returns the end of a sentence that says what is kept, and as what. Where nothing whole can be copied any more, a
    journal that was overwritten is kept. None if nothing can be copied, or nothing has to be: a journal whose name is gone
    goes into the database as it is closed.
    """
    if database.change is None or database.is_journal_unlinked:
        return None
    aside = _free_name(database.path, now)
    whole = _copy(database, aside)
    said = [f"what the server still held is kept as {aside.name}"] if whole else []
    if not whole and _salvage(database, aside):
        said = [f"the part of it that could still be read is kept as {aside.name}"]
        aside = _free_name(database.path, now)
    if database.was_rolled_back:
        database.journal_aside = Path(f"{_free_name(database.path, now)}-wal")
        said.append(f"its journal is kept as {database.journal_aside.name}")
    elif database.is_journal_lost and not whole:
        said += _keep_journal(database.path, aside)
    return " and ".join(said) or None


def _copy(database: Database, aside: Path) -> bool:
    """Copy what a database still holds. Whether the copy is intact; else it is removed."""
    try:
        database.copy_to(aside)
        if _check_integrity(aside) is None:
            return True
    except (StoreError, OSError):
        pass
    with contextlib.suppress(OSError):
        os.unlink(aside)
    return False


def _salvage(database: Database, aside: Path) -> bool:
    """Copy the rows that can still be read from both ends of each table. Whether there were any; else nothing is left."""
    try:
        if database.salvage_to(aside):
            return True
    except (StoreError, OSError):
        pass
    with contextlib.suppress(OSError):
        os.unlink(aside)
    return False


def _keep_journal(path: Path, aside: Path) -> list[str]:
    """Copy a damaged journal, up to a limit, and say so."""
    kept = Path(f"{aside}-wal")
    try:
        with open(f"{path}-wal", "rb", opener=_not_following) as journal:
            size = os.fstat(journal.fileno()).st_size
            create(kept, journal.read(_SMALL_BYTES))
    except OSError:
        return []
    if size <= _SMALL_BYTES:
        return [f"its journal is kept as {kept.name}"]
    return [f"only the first {_SMALL_BYTES:,} of the {size:,} bytes of its journal are kept, as {kept.name}"]


def _describe_loss(path: Path) -> str:
    return (
        f"{to_wire(str(path))} was gone, although an earlier server had stored sessions, tasks and claims in it; "
        "a new one was created"
    )


def _damage(path: Path) -> str | None:
    """What is wrong with the file, as the end of a sentence. None if it is intact or missing, or if that is unknown."""
    try:
        with open(path, "rb", opener=_not_following) as file:
            header, size = file.read(_HEADER_BYTES), os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        return "was missing, although its journal was still there" if _has_content(f"{path}-wal") else None
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
            if _UNFINISHED.fullmatch(name):
                found = os.stat(path.parent / name, follow_symlinks=False)
                if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                    os.unlink(path.parent / name)
