"""The database of a repository: SQLite in WAL mode, one writer, every write fenced by the epoch of the lease."""

from __future__ import annotations

import contextlib
import operator
import os
import sqlite3
import stat
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from brief.core.model.errors import StoreError, SupersededError
from brief.fastpath.proof import WRITABLE_BY_OTHERS
from brief.sessions.connections import (
    BUSY_MS,
    OPEN_MS,
    connect,
    generation_in_file,
    open_read_only,
    open_writable,
    sentence_of,
)
from brief.sessions.damage import find_change, is_damage, is_journal_damaged
from brief.sessions.journal import Journal
from brief.sessions.losses import Loss, forget_losses, put_losses, stored_losses
from brief.sessions.schema import bring_up_to_date, put_generation, readable_version, salvage, stored_generation
from brief.support.fence import refuse_if_superseded

_identity = operator.attrgetter("st_ino", "st_dev", "st_uid")


class _Look(NamedTuple):
    """How the files were found: the mtime of the database in nanoseconds, and size and mtime of its journal."""

    touched_at: int
    journal: tuple[int, int]


class Database:
    """A connection that any thread may use, one at a time.

    Without an `epoch` it only reads. With one it writes, and the epoch is a fencing token: every write is refused once a
    newer epoch was stored, or once the path is no longer the file that was opened. `lost` says why nothing can be stored
    here any more.

    `losses` are stored at opening, beside those that were not forgotten yet. The database gets a generation that is higher
    than any stored before and than `generation`, which is the one that the last holder noted.
    """

    def __init__(self, path: Path, epoch: int | None, losses: Iterable[Loss] = (), generation: int = 0) -> None:
        self.path = path
        self._files = (str(path), f"{path}-wal", f"{path}-shm")
        self.epoch = epoch
        self.change: str | None = None
        """What was done to the files, so that nothing can be stored any more, as a sentence without a full stop."""
        self.losses = tuple(losses)
        self.generation = generation
        self.generation_in_file = 0
        """The generation at the last checkpoint: the file alone, without its journal, holds at least that."""
        self._is_generation_due = False
        self.is_journal_lost = False
        self.is_journal_unlinked = False
        self.was_rolled_back = False
        self.journal_aside: Path | None = None
        """Where the journal is moved at the end: it belongs to another file than the one that lies at the path."""
        self._lock = threading.Lock()
        self._opened: dict[str, os.stat_result] = {}
        self._journal = (0, 0)
        """Size and mtime in nanoseconds of the journal after our last write: only we write to it."""
        self._written_at = 0
        """The file's mtime in nanoseconds after our last write. Any other mtime means that somebody else wrote to it."""
        self._is_durable = True
        self._open_journal: Journal | None = None
        self._connection = open_writable(path, self._mark) if epoch is not None else open_read_only(path)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        if self.epoch is None:
            with self._raising_store_errors(), self._connection:
                readable_version(self._connection, self.path)
                self.losses = stored_losses(self._connection)
                self.generation = stored_generation(self._connection)
            return
        with self._raising_store_errors():
            self._wait_for_locks(OPEN_MS)
            with self._connection:
                self._claim(self.epoch)
            self._wait_for_locks(BUSY_MS)
        found = self._refuse_if_moved()
        page_bytes = int(self._connection.execute("PRAGMA page_size").fetchone()[0])
        try:
            self._open_journal = Journal(self._files[1], page_bytes)
        except OSError as fault:
            raise StoreError(sentence_of(self.path, fault)) from fault
        self._note_written(found)

    def _wait_for_locks(self, milliseconds: int) -> None:
        self._connection.execute(f"PRAGMA busy_timeout = {milliseconds}")

    def _claim(self, epoch: int) -> None:
        """Create the tables, or migrate those of an earlier version, and store the epoch, in one transaction."""
        self._connection.execute("BEGIN IMMEDIATE")
        bring_up_to_date(self._connection, self.path)
        self._refuse_if_newer(epoch)
        self._connection.execute("UPDATE meta SET value = ? WHERE key = 'epoch'", (epoch,))
        self.generation = self._mark(self._connection)
        self.losses = stored_losses(self._connection)

    def _mark(self, connection: sqlite3.Connection) -> int:
        """Store the losses and the next generation, in the caller's transaction. Returns the generation."""
        put_losses(connection, self.losses)
        generation = max(self.generation, stored_generation(connection)) + 1
        put_generation(connection, generation)
        return generation

    def _refuse_if_newer(self, epoch: int) -> None:
        stored = self._connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()[0]
        if stored > epoch:
            raise SupersededError(
                f"epoch {stored} holds this repository now and {epoch} writes nothing more; "
                "run majordomus serve ensure and ask again"
            )

    @property
    def lost(self) -> str | None:
        """Why nothing can be stored here any more, None if it can."""
        return None if self.change is None else f"{self.change}: the server stores nothing more and ends"

    def forget_losses(self) -> None:
        """Forget the losses, since every session that lives must have been heard. Raises StoreError, SupersededError."""
        if self.losses:
            with self.write(durable=False) as connection:
                forget_losses(connection)
            self.losses = ()

    def end_generation(self) -> int:
        """Store another generation, which no copy has that was made while the server ran, and return it.

        Raises StoreError, SupersededError.
        """
        self._is_generation_due = True
        with self.write():
            pass
        return self.generation

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
            journal_bytes = self._journal[0]
            try:
                self._set_durable(durable)
                with self._connection as connection:
                    connection.execute("BEGIN IMMEDIATE")
                    self._refuse_if_newer(self.epoch)
                    generation = self._mark(connection) if self._is_generation_due else self.generation
                    yield connection
                    refuse_if_superseded()
                self.generation, self._is_generation_due = generation, False
            finally:
                found = self._refuse_if_moved()
                if self._open_journal is not None and self._open_journal.may_be_torn(journal_bytes):
                    self._accept_journal()
                else:
                    self._note_written(found)

    def find_loss(self) -> str | None:
        """Why nothing can be stored here any more, None if the files are those that were opened. Never waits for a writer."""
        if self.change is None:
            with contextlib.suppress(StoreError):
                self._refuse_if_moved()
        return self.lost

    def is_touched(self) -> bool:
        """Whether somebody else may have written to the file; `examine` finds out. Never waits for a writer."""
        with contextlib.suppress(StoreError):
            return self._refuse_if_moved() != (self._written_at, self._journal)
        return False

    def examine(self) -> None:
        """Check the file if somebody else may have written to it, and set `lost` if it has changed. Blocks."""
        with self._lock, contextlib.suppress(StoreError, SupersededError):
            self._refuse_if_changed()

    def _set_durable(self, durable: bool) -> None:  # noqa: FBT001 - the one thing that it sets
        """Set whether a commit waits for the disk. A durable commit also saves the ones before it."""
        if durable is not self._is_durable:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._is_durable = durable

    def _refuse_if_moved(self) -> _Look:
        """Raise StoreError if the paths no longer name the files that were opened. Returns how they were found.

        SQLite continues in the files that it holds open, wherever they were moved, but a restart would not find them.
        """
        if self.change is not None:
            raise StoreError(_refusal(self.change))
        database, journal = self._find(self._files[0]), self._find(self._files[1])
        return _Look(database.st_mtime_ns, (journal.st_size, journal.st_mtime_ns))

    def _find(self, path: str) -> os.stat_result:
        """The file at a path, which must be the one that was opened. Raises StoreError."""
        before = self._opened.get(path)  # read first: a writer may note a larger file at any moment
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            self.is_journal_unlinked = path is not self._files[0]
            self._lose(f"{path} is gone")
        except OSError as fault:  # which proves nothing
            raise StoreError(
                f"{path} cannot be accessed ({fault.strerror}), so nothing is stored; try again"
            ) from fault
        before = before or found
        if _identity(found) != _identity(before) or found.st_mode & WRITABLE_BY_OTHERS:
            self._refuse_another(path, before, found)
        if path is self._files[0] and found.st_size < before.st_size:
            self._lose(f"{path} was cut from {before.st_size:,} to {found.st_size:,} bytes")
        self._opened[path] = found
        return found

    def _refuse_another(self, path: str, before: os.stat_result, found: os.stat_result) -> None:
        """Raise StoreError if a path names another file than before, or one of another user. A wider mode is corrected."""
        if not os.path.samestat(found, before):
            self._lose(f"{path} is no longer the file that was opened")
        if found.st_uid != before.st_uid:
            self._lose(f"{path} belongs to uid {found.st_uid} now")
        if found.st_mode & WRITABLE_BY_OTHERS:
            self.tighten()

    def tighten(self) -> None:
        """Remove the write permission of others from our files. They are not opened: closing them would drop SQLite's locks."""
        for path in self._files:
            with contextlib.suppress(OSError):
                found = os.stat(path, follow_symlinks=False)
                if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_mode & WRITABLE_BY_OTHERS:
                    os.chmod(path, 0o600)

    def _refuse_if_changed(self) -> None:
        """Like `_refuse_if_moved`, but also raise StoreError if somebody else has overwritten the file."""
        found = self._refuse_if_moved()
        self._find(self._files[2])
        if found.journal != self._journal:
            self._accept_journal()
            found = self._refuse_if_moved()
        if found.touched_at == self._written_at:
            return
        self._refuse_earlier(generation_in_file(self.path), self.generation_in_file)
        change, generation = find_change(self.path)
        if change is not None:
            self._lose(f"{self.path} {change}")
        self._refuse_earlier(generation, self.generation)
        self._written_at = found.touched_at

    def _accept_journal(self) -> None:
        """Raise StoreError if the journal, which somebody else has written to, holds less than was stored.

        If it is intact, as after another's checkpoint, it is copied into the database: a later recovery would stop at the
        first frame that is not.
        """
        refuse_if_superseded()  # what a newer server writes is no damage, and the older one writes nothing
        if is_journal_damaged(self.path):
            self.is_journal_lost = True
            self._lose(f"{self._files[1]} was overwritten or cut")
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._note_written(self._refuse_if_moved())

    def _note_written(self, found: _Look) -> None:
        """Take what was `found` after a write of ours for ours. What another thread finds meanwhile may be anybody's."""
        self._journal = found.journal
        if found.touched_at == self._written_at:
            return
        # A checkpoint. What is copied from now on is to differ from earlier copies.
        in_file = generation_in_file(self.path)
        if in_file is None and self._written_at:
            return  # the next look examines it
        self._refuse_earlier(in_file, self.generation_in_file)
        self.generation_in_file = in_file or 0
        self._is_generation_due = self._written_at > 0
        self._written_at = found.touched_at

    def _refuse_earlier(self, found: int | None, least: int) -> None:
        """Raise StoreError if the generation that was found, None if it is unknown, is an earlier one than was stored."""
        if found is not None and found < least:
            self.was_rolled_back = self.is_journal_lost = True
            self._lose(f"{self.path} was overwritten by an earlier copy of it")

    def _lose(self, why: str) -> NoReturn:
        self.change = f"{why}: somebody changed it under a running server"
        raise StoreError(_refusal(self.change))

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
            if self.epoch is not None and self.change is None and is_damage(fault):
                self.change = f"{self.path} is damaged ({fault})"
            raise StoreError(sentence_of(self.path, fault)) from fault

    def copy_to(self, path: Path) -> None:
        """Copy everything that is stored in the open file to a new one. Raises StoreError, FileExistsError and OSError."""
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with self._lock, self._raising_store_errors(), contextlib.closing(sqlite3.connect(path)) as copy:
            self._connection.backup(copy)

    def salvage_to(self, path: Path) -> int:
        """Copy each row that can still be read to a new file. Returns their number. Raises StoreError and OSError."""
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with self._lock, self._raising_store_errors(), contextlib.closing(connect(path)) as copy:
            return salvage(self._connection, copy)

    def close(self) -> None:
        """Close the connection. The last writer leaves no journal files beside the database.

        A journal that somebody overwrote is not copied into the database: a reader that closes last keeps SQLite from it.
        """
        with self._lock, contextlib.ExitStack() as last:
            if self.is_journal_lost:
                with contextlib.suppress(StoreError, sqlite3.Error):
                    reader = last.enter_context(contextlib.closing(open_read_only(self.path)))
                    reader.execute("SELECT count(*) FROM sqlite_master")
            self._connection.close()
            if self._open_journal is not None:
                self._open_journal.close()
                self._open_journal = None
            if self.journal_aside is not None:
                with contextlib.suppress(OSError):
                    os.rename(self._files[1], self.journal_aside)


def check_integrity(path: Path) -> str | None:
    """What SQLite finds damaged in the database, None if it is intact. Raises StoreError if it cannot be read."""
    with contextlib.closing(Database(path, epoch=None)) as database, database.read() as connection:
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    return None if found == "ok" else found


def _refusal(change: str) -> str:
    return f"{change}; it is unknown whether this was stored, so try again once a new server runs"


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
