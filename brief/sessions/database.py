"""The database of a repository: SQLite in WAL mode, one writer, every write fenced by the epoch of the lease."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from brief.core.model.errors import StoreError, SupersededError
from brief.sessions.schema import bring_up_to_date, make_tables, readable_version
from brief.support.fence import refuse_if_superseded
from brief.support.files import sync_folder

BUSY_MS = 1_000
OPEN_MS = 10_000
"""How long opening waits for the locks of others: this server must open, and its predecessor may still be closing."""
MOST_PATH_BYTES = 490
"""The longest path of a database: SQLite's 512 bytes, less the longer name under which it is created and `-journal`."""
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""The codes by which SQLite says that a file is not an intact database."""
_PAUSE_SECONDS = 0.005


class Database:
    """A connection that any thread may use, one at a time.

    Without an `epoch` it only reads. With one it writes, and the epoch is a fencing token: every write is refused once a
    newer epoch was stored, or once the path is no longer the file that was opened. `lost` says why nothing can be stored
    here any more.
    """

    def __init__(self, path: Path, epoch: int | None) -> None:
        self.path = path
        self._files = (str(path), f"{path}-wal")
        self.epoch = epoch
        self.lost: str | None = None
        self.is_journal_lost = False
        self._lock = threading.Lock()
        self._opened: dict[str, os.stat_result] = {}
        self._journal = self._journal_found = (0, 0)
        """Size and mtime of the journal after our last write, and as last found: only we write to it."""
        self._written_at = 0
        """The file's mtime in nanoseconds after our last write. Any other mtime means that somebody else wrote to it."""
        self._is_durable = True
        self._connection = _writable(path) if epoch is not None else _read_only(path)
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        if self.epoch is None:
            with self._raising_store_errors(), self._connection:
                readable_version(self._connection, self.path)
            return
        with self._raising_store_errors():
            self._wait_for_locks(OPEN_MS)
            with self._connection:
                self._claim(self.epoch)
            self._wait_for_locks(BUSY_MS)
        self._refuse_if_moved()
        self._note_written()

    def _wait_for_locks(self, milliseconds: int) -> None:
        self._connection.execute(f"PRAGMA busy_timeout = {milliseconds}")

    def _claim(self, epoch: int) -> None:
        """Create the tables, or migrate those of an earlier version, and store the epoch, in one transaction."""
        self._connection.execute("BEGIN IMMEDIATE")
        bring_up_to_date(self._connection, self.path)
        self._refuse_if_newer(epoch)
        self._connection.execute("UPDATE meta SET value = ? WHERE key = 'epoch'", (epoch,))

    def _refuse_if_newer(self, epoch: int) -> None:
        stored = self._connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()[0]
        if stored > epoch:
            raise SupersededError(
                f"epoch {stored} holds this repository now and {epoch} writes nothing more; "
                "run majordomus serve ensure and ask again"
            )

    @contextlib.contextmanager
    def write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Run one transaction. If it is `durable`, it survives a power cut.

        Raises SupersededError, with nothing written, if a newer server holds the repository. Raises StoreError if nothing
        was stored, or if it was stored in a file that was moved or replaced.
        """
        if self.epoch is None:
            raise StoreError(f"{self.path} was opened read-only")
        with self._lock, self._raising_store_errors():
            self._refuse_if_changed()
            try:
                self._set_durable(durable)
                with self._connection as connection:
                    connection.execute("BEGIN IMMEDIATE")
                    self._refuse_if_newer(self.epoch)
                    yield connection
                    refuse_if_superseded()
            finally:
                self._refuse_if_moved()
                self._note_written()

    def find_loss(self) -> str | None:
        """Why nothing can be stored here any more, None if the files are those that were opened. Never waits for a writer."""
        if self.lost is None:
            with contextlib.suppress(StoreError):
                self._refuse_if_moved()
        return self.lost

    def is_touched(self) -> bool:
        """Whether somebody else may have written to the file; `examine` finds out. Never waits for a writer."""
        if self.find_loss() is not None:
            return False
        return self._opened[self._files[0]].st_mtime_ns != self._written_at or self._journal_found != self._journal

    def examine(self) -> None:
        """Check the file if somebody else may have written to it, and set `lost` if it has changed. Blocks."""
        with self._lock, contextlib.suppress(StoreError, SupersededError):
            self._refuse_if_changed()

    def _set_durable(self, durable: bool) -> None:  # noqa: FBT001 - the one thing that it sets
        """Set whether a commit waits for the disk. A durable commit also saves the ones before it."""
        if durable is not self._is_durable:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._is_durable = durable

    def _refuse_if_moved(self) -> None:
        """Raise StoreError if the paths no longer name the files that were opened.

        SQLite continues in the files that it holds open, wherever they were moved, but a restart would not find them.
        """
        if self.lost is not None:
            raise StoreError(_refusal(self.lost))
        for path in self._files:
            before = self._opened.get(path)  # read first: a writer may note a larger file at any moment
            try:
                found = os.stat(path, follow_symlinks=False)
            except (FileNotFoundError, NotADirectoryError):
                self._lose(f"{path} is gone")
            except OSError as fault:  # which proves nothing
                raise StoreError(
                    f"{path} cannot be accessed ({fault.strerror}), so nothing is stored; try again"
                ) from fault
            if before is None:
                before = self._opened[path] = found
            if not os.path.samestat(found, before):
                self._lose(f"{path} is no longer the file that was opened")
            if found.st_uid != before.st_uid:
                self._lose(f"{path} belongs to uid {found.st_uid} now")
            if path is self._files[0]:
                if found.st_size < before.st_size:
                    self._lose(f"{path} was cut from {before.st_size:,} to {found.st_size:,} bytes")
                self._opened[path] = found
            else:
                self._journal_found = (found.st_size, found.st_mtime_ns)

    def _refuse_if_changed(self) -> None:
        """Like `_refuse_if_moved`, but also raise StoreError if somebody else has overwritten the file."""
        self._refuse_if_moved()
        if self._journal_found != self._journal:
            self._accept_journal()
        touched_at = self._opened[self._files[0]].st_mtime_ns
        if touched_at == self._written_at:
            return
        change = _find_change(self.path)
        if change is not None:
            self._lose(f"{self.path} {change}")
        self._written_at = touched_at

    def _accept_journal(self) -> None:
        """Raise StoreError if the journal, which somebody else has written to, holds less than was stored.

        If it is intact, as after another's checkpoint, it is copied into the database: a later recovery would stop at the
        first frame that is not.
        """
        refuse_if_superseded()  # what a newer server writes is no damage, and the older one writes nothing
        if _find_journal_damage(self.path):
            self.is_journal_lost = True
            self._lose(f"{self._files[1]} was overwritten or cut")
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._refuse_if_moved()
        self._note_written()

    def _note_written(self) -> None:
        self._written_at = self._opened[self._files[0]].st_mtime_ns
        self._journal = self._journal_found

    def _lose(self, why: str) -> NoReturn:
        self.lost = f"{why}: somebody changed it under the server, which stores nothing more and ends"
        raise StoreError(_refusal(self.lost))

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A read transaction: one consistent view of what is stored. Raises StoreError."""
        with self._lock, self._raising_store_errors():
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.rollback()

    @contextlib.contextmanager
    def _raising_store_errors(self) -> Iterator[None]:
        """Turn SQLite's errors into StoreErrors, and note damage."""
        try:
            yield
        except sqlite3.Error as fault:
            if self.epoch is not None and self.lost is None and is_damage(fault):
                self.lost = f"{self.path} is damaged ({fault}): the server stores nothing more and ends"
            raise StoreError(_sentence(self.path, fault)) from fault

    def was_moved(self) -> bool:
        """Whether the path is no longer the file that is open."""
        opened = self._opened[self._files[0]]
        try:
            return not os.path.samestat(os.stat(self.path, follow_symlinks=False), opened)
        except FileNotFoundError:
            return True
        except OSError:  # which proves nothing
            return False

    def copy_to(self, path: Path) -> None:
        """Copy everything that is stored in the open file to a new one. Raises StoreError, FileExistsError and OSError."""
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with self._lock, self._raising_store_errors(), contextlib.closing(sqlite3.connect(path)) as copy:
            self._connection.backup(copy)

    def close(self) -> None:
        """Close the connection. The last writer leaves no journal files beside the database.

        A journal that somebody overwrote is not copied into the database: a reader that closes last keeps SQLite from it.
        """
        with self._lock, contextlib.ExitStack() as last:
            if self.is_journal_lost:
                with contextlib.suppress(StoreError, sqlite3.Error):
                    reader = last.enter_context(contextlib.closing(_read_only(self.path)))
                    reader.execute("SELECT count(*) FROM sqlite_master")
            self._connection.close()


def check_integrity(path: Path) -> str | None:
    """What SQLite finds damaged in the database, None if it is intact. Raises StoreError if it cannot be read."""
    with contextlib.closing(Database(path, epoch=None)) as database, database.read() as connection:
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    return None if found == "ok" else found


def is_damage(fault: sqlite3.Error) -> bool:
    """Whether SQLite says that the file is not an intact database."""
    code = getattr(fault, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in DAMAGED


def _find_change(path: Path) -> str | None:
    """How the file was overwritten, as the end of a sentence. None if it is an intact database of ours.

    This opens a new connection, since an open one keeps using the pages that it has cached. Raises StoreError if the file
    cannot be read.
    """
    try:
        with contextlib.closing(_read_only(path)) as connection:
            damage = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            connection.execute("SELECT value FROM meta").fetchone()
    except sqlite3.Error as fault:
        if is_damage(fault) or "no such table" in str(fault):
            return f"was overwritten ({fault})"
        raise StoreError(_sentence(path, fault)) from fault
    return None if damage == "ok" else f"was overwritten ({' '.join(damage.split())[:200]})"


def _find_journal_damage(path: Path) -> bool:
    """Whether the database cannot be read in full through its journal. Raises StoreError if others have locked it."""
    try:
        with contextlib.closing(_read_only(path)) as connection:
            return str(connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok"
    except sqlite3.Error as fault:
        if fault.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise StoreError(_sentence(path, fault)) from fault
        return True


def _refusal(lost: str) -> str:
    return f"{lost}; it is unknown whether this was stored, so try again once a new server runs"


def stored_epoch(path: Path) -> int:
    """The highest epoch that ever wrote here. 0 if there is no database, or it cannot be read."""
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
            if not os.path.lexists(path):
                _create(path)
            connection = _connect(path)
            failing.callback(connection.close)
            os.chmod(path, 0o600)
            _switch_to_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
        except (sqlite3.Error, OSError) as fault:
            raise StoreError(_sentence(path, fault)) from fault
        failing.pop_all()
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    """Open a connection that waits for the locks of others. That is set first, since any statement may meet a lock."""
    return sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)


def _create(path: Path) -> None:
    """Create the database under another name and link it into place, so that nobody opens an unfinished one."""
    descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    os.close(descriptor)
    try:
        with contextlib.closing(_connect(Path(beside))) as connection:
            _switch_to_wal(connection)
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                make_tables(connection)
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


def _read_only(path: Path) -> sqlite3.Connection:
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
        raise StoreError(_sentence(path, fault)) from fault


def _sentence(path: Path, fault: Exception) -> str:
    length = len(os.fsencode(path))
    if length > MOST_PATH_BYTES:
        return f"{path} is a path of {length} bytes, and SQLite allows at most {MOST_PATH_BYTES}; move the repository to a shorter path"
    if getattr(fault, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
        return f"{path} cannot be written, since its disk is full; free space and try again: nothing stored is lost"
    return f"{path} cannot be used ({fault}); if this persists, move the file away and run majordomus serve ensure"
