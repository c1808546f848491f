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
"""How long opening waits for the locks of others: the server before may still be closing, and then this one has to be."""
MOST_PATH_BYTES = 490
"""The longest path of a database: SQLite opens 512 bytes, with the longer name under which it is made and `-journal`."""
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""The codes by which SQLite says that a file is no whole database."""
_PAUSE_SECONDS = 0.005


class Database:
    """A connection that any thread may use, one at a time.

    With an `epoch` it writes, and every write is refused once a newer epoch has been stored, or the path names another
    file than the one that was opened; without, it only reads. `lost` says why nothing can be stored here any more.
    """

    def __init__(self, path: Path, epoch: int | None) -> None:
        self.path = path
        self.epoch = epoch
        self.lost: str | None = None
        self._lock = threading.Lock()
        self._opened: dict[str, os.stat_result] = {}
        self._written_at = 0
        """The file's time of change in nanoseconds after our own last write: what is newer, somebody else wrote."""
        self._is_durable = True
        self._connection = _writable(path) if epoch is not None else _read_only(path)
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        if self.epoch is None:
            with self._told(), self._connection:
                readable_version(self._connection, self.path)
            return
        with self._told():
            self._wait_for_locks(OPEN_MS)
            with self._connection:
                self._claim(self.epoch)
            self._wait_for_locks(BUSY_MS)
        self._refuse_if_moved()
        self._note_written()

    def _wait_for_locks(self, milliseconds: int) -> None:
        self._connection.execute(f"PRAGMA busy_timeout = {milliseconds}")

    def _claim(self, epoch: int) -> None:
        """Make the tables, or bring those of an earlier version up to date, and store the epoch, in one transaction."""
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
        """One transaction, which a power cut does not undo where it is `durable`.

        Raises SupersededError, and nothing is written, where a newer server holds the repository, and StoreError where
        it was not stored, or into a file that nobody will find.
        """
        if self.epoch is None:
            raise StoreError(f"{self.path} was opened to be read only")
        with self._lock, self._told():
            self._refuse_if_changed()
            self._set_durable(durable)
            with self._connection as connection:
                connection.execute("BEGIN IMMEDIATE")
                self._refuse_if_newer(self.epoch)
                yield connection
                refuse_if_superseded()
            self._refuse_if_moved()
            self._note_written()

    def find_loss(self) -> str | None:
        """Why nothing can be stored here any more; None where the files are those that were opened. Waits for no writer."""
        if self.lost is None:
            with contextlib.suppress(StoreError):
                self._refuse_if_moved()
        return self.lost

    def is_touched(self) -> bool:
        """Whether somebody else may have written into the file, which `examine` tells. Waits for no writer."""
        return self.find_loss() is None and self._opened[str(self.path)].st_mtime_ns != self._written_at

    def examine(self) -> None:
        """Look into the file if somebody else may have written into it; see `lost` for what was found. Blocks."""
        with self._lock, contextlib.suppress(StoreError):
            self._refuse_if_changed()

    def _set_durable(self, durable: bool) -> None:  # noqa: FBT001 - the one thing that it sets
        """Whether a commit waits until the disk has it; what comes later takes along what came before."""
        if durable is not self._is_durable:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._is_durable = durable

    def _refuse_if_moved(self) -> None:
        """Compare the files that the paths name now with those that were opened; raise StoreError where they differ.

        SQLite goes on in the files that it holds open, wherever they were moved, and a restart would not find them.
        """
        if self.lost is not None:
            raise StoreError(_refusal(self.lost))
        for path in (str(self.path), f"{self.path}-wal"):
            before = self._opened.get(path)  # read first: a writer may note a larger file at any moment
            try:
                found = os.stat(path, follow_symlinks=False)
            except (FileNotFoundError, NotADirectoryError):
                self._lose(f"{path} is gone")
            except OSError as fault:  # which proves nothing
                raise StoreError(
                    f"{path} cannot be accessed ({fault.strerror}), so nothing is stored; ask again"
                ) from fault
            if before is None:
                before = self._opened[path] = found
            if not os.path.samestat(found, before):
                self._lose(f"{path} is another file than the one that was opened")
            if path == str(self.path):
                if found.st_size < before.st_size:
                    self._lose(f"{path} was cut from {before.st_size:,} to {found.st_size:,} bytes")
                self._opened[path] = found

    def _refuse_if_changed(self) -> None:
        """Raise StoreError as `_refuse_if_moved`, and where what somebody else wrote into the file is not what we stored."""
        self._refuse_if_moved()
        touched_at = self._opened[str(self.path)].st_mtime_ns
        if touched_at == self._written_at:
            return
        change = _find_change(self.path)
        if change is not None:
            self._lose(f"{self.path} {change}")
        self._written_at = touched_at

    def _note_written(self) -> None:
        self._written_at = self._opened[str(self.path)].st_mtime_ns

    def _lose(self, why: str) -> NoReturn:
        self.lost = f"{why}: somebody changed it under the server, which stores nothing more and ends"
        raise StoreError(_refusal(self.lost))

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
            if self.epoch is not None and self.lost is None and is_damage(fault):
                self.lost = f"{self.path} is damaged ({fault}): the server stores nothing more and ends"
            raise StoreError(_sentence(self.path, fault)) from fault

    def was_moved(self) -> bool:
        """Whether the path names another file than the one that is open, or none."""
        opened = self._opened[str(self.path)]
        try:
            return not os.path.samestat(os.stat(self.path, follow_symlinks=False), opened)
        except FileNotFoundError:
            return True
        except OSError:  # which proves nothing
            return False

    def copy_to(self, path: Path) -> None:
        """Copy all that is stored in the file that is open to a new one; raises StoreError, FileExistsError, OSError."""
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with self._lock, self._told(), contextlib.closing(sqlite3.connect(path)) as copy:
            self._connection.backup(copy)

    def close(self) -> None:
        """Close the connection; the last writer leaves no journal files beside the database."""
        with self._lock:
            self._connection.close()


def check_integrity(path: Path) -> str | None:
    """What SQLite finds damaged in the database, None where it is whole; raises StoreError where it cannot be read."""
    with contextlib.closing(Database(path, epoch=None)) as database, database.read() as connection:
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    return None if found == "ok" else found


def is_damage(fault: sqlite3.Error) -> bool:
    """Whether SQLite says that the file is no whole database."""
    code = getattr(fault, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in DAMAGED


def _find_change(path: Path) -> str | None:
    """How the file is not the database that a server left, as the rest of a sentence; None where it is whole.

    Read anew, since an open connection goes on with the pages that it has. Raises StoreError where that cannot be told.
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


def _refusal(lost: str) -> str:
    return f"{lost}; whether this was stored is not known, so ask again once a new server runs"


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
    """A connection that waits for the locks of others; the first thing that is set, since all else may meet one."""
    return sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)


def _create(path: Path) -> None:
    """Make the database beside its place and put it there whole: nobody ever opens one that is half made."""
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
    """Switch to WAL; where others use the file at that moment SQLite fails at once, whatever its time-out."""
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


def _sentence(path: Path, fault: Exception) -> str:
    length = len(os.fsencode(path))
    if length > MOST_PATH_BYTES:
        return f"{path} is a path of {length} bytes, and SQLite opens none of more than {MOST_PATH_BYTES}; move the repository to a shorter one"
    return f"{path} cannot be used ({fault}); if that stays so, move the file away and run majordomus serve ensure"
