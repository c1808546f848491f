"""The lease of a repository: an exclusive flock for the life of the process, and a file that names the holder.

The kernel frees the lock however the process ends, so no pid has to be trusted. `lease.json` is for readers; it is replaced by
rename, and its epoch only grows. The lock file also names its holder, because `lease.json` may still be the previous one's.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brief import __version__
from brief.core.model.errors import ConflictError, MajordomusError
from brief.core.model.wire_time import wire_time
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.fastpath.lease import LEASE_SCHEMA, MOST_EPOCH, NoServerError, read_lease, state_dir
from brief.fastpath.process import describe_process
from brief.fastpath.proof import UnprovenError, open_file
from brief.fastpath.reach import LOCK, mount_namespace
from brief.server.owned_file import OwnedFile
from brief.sessions.database import stored_epoch
from brief.sessions.losses import MOST_RECORD, NOTHING_NOTED, LockRecord, Loss, read_lock_record
from brief.support.files import replace
from brief.support.state_folder import make_state

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

DATABASE = "majordomus.db"
LOCK_TRIES = 3
RETRY_SECONDS = 0.01
"""The pause between tries. A process that only checks the lock (`held_lock`) holds it for a moment itself."""


class HeldError(ConflictError):
    """Another process holds the lease."""


class LeaseError(MajordomusError):
    """The lease of this repository cannot be taken. The message says why."""


class Lease:
    """The right to be the server of a repository, for as long as `is_ours` is true.

    `noted` is what the previous holder, and later this one, recorded about the database.
    """

    def __init__(self, common_dir: str, descriptor: int, epoch: int, noted: LockRecord = NOTHING_NOTED) -> None:
        self.common_dir = common_dir
        self.state_dir = Path(state_dir(common_dir))
        self._lock_path = self.state_dir / LOCK
        self.epoch = epoch
        self.noted = noted
        self._descriptor: int | None = descriptor
        self._record = b""
        self._file: OwnedFile | None = None

    @classmethod
    def take(cls, common_dir: str, now: datetime) -> Lease:
        """Take the lease. Raises HeldError if another process holds it, and LeaseError if it cannot be taken at all."""
        folder = Path(state_dir(common_dir))
        try:
            make_state(str(folder))
            descriptor, noted = _take_lock(folder / LOCK)
        except BlockingIOError:
            raise HeldError(f"another server holds {common_dir}") from None
        except UnprovenError as fault:
            raise LeaseError(f"no server can run: {fault}") from fault
        except OSError as fault:
            raise LeaseError(f"no server can run: {folder} cannot be written ({fault.strerror})") from fault
        last = max(_last_epoch(common_dir), stored_epoch(folder / DATABASE))
        if last >= MOST_EPOCH:
            os.close(descriptor)
            raise LeaseError(
                f"no server can run: {folder / DATABASE} names epoch {last}, which no clock ever gave; move it away"
            )
        return cls(common_dir, descriptor, max(last + 1, int(now.timestamp() * 1000)), noted)

    def publish(
        self, socket: Path, tcp: str | None, since: datetime, installed: Sequence[Sequence[str | int]] = ()
    ) -> None:
        """Write who holds the lease, its addresses, and the files it runs (`Installation.recorded`)."""
        record = {
            "schema": LEASE_SCHEMA,
            "epoch": self.epoch,
            "common_dir": self.common_dir,
            **own_process(),
            "socket": str(socket),
            "tcp": tcp,
            "version": __version__,
            "executable": sys.executable,
            "installed": installed,
            "since": wire_time(since),
        }
        self._record = json.dumps(record, indent=1).encode() + b"\n"
        self._write()

    def note_database(self, generation: int, in_file: int) -> None:
        """Record in the lock file, for the next holder, the generation of the database, and that in its file. Raises OSError."""
        self._note(LockRecord(had_database=True, generation=generation, in_file=in_file))

    def note_loss(self, at: datetime, reason: str) -> Loss:
        """Record in the lock file, for the next holder, that the database was lost. Later calls keep the first time.

        Returns what was recorded. Raises OSError.
        """
        loss = Loss(at if self.noted.loss is None else self.noted.loss.at, reason)
        self._note(self.noted._replace(loss=loss))
        return loss

    def _note(self, noted: LockRecord) -> None:
        if self._descriptor is not None and noted != self.noted:
            _name_process(self._descriptor, noted)
        self.noted = noted

    def renew(self) -> bool:
        """Write lease.json again if it is no longer ours. Only the holder of the lock may call this. Raises OSError."""
        if self._file is None or self._file.is_there():
            return False
        self._write()
        return True

    def _write(self) -> None:
        path = self.state_dir / "lease.json"
        replace(path, self._record)
        self._file = OwnedFile.at(path)

    def is_ours(self) -> bool:
        """Whether the file at the lock's path is proven to be the one we hold. If it is not, nothing may be written."""
        return self._descriptor is not None and isinstance(locked_file(self._descriptor, self._lock_path), Known)

    def is_lost(self) -> bool:
        """Whether the lease is proven lost. A file that cannot be accessed proves nothing."""
        return self._descriptor is None or locked_file(self._descriptor, self._lock_path) is ABSENT

    def free(self) -> None:
        """Free the lock for the next server. After this, nothing may be written."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def release(self) -> None:
        """Remove lease.json if it is still ours, and free the lock."""
        if self._file is not None:
            self._file.remove()
        self.free()


def _take_lock(path: Path) -> tuple[int, LockRecord]:
    """Lock the file and write this process into it. Returns its descriptor and what the previous holder recorded.

    If it raises OSError, nothing is locked.
    """
    descriptor = _lock(path)
    try:
        noted = read_lock_record(os.pread(descriptor, MOST_RECORD, 0))
        _name_process(descriptor, noted)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor, noted


def _name_process(descriptor: int, noted: LockRecord) -> None:
    """Write the holder, and what it records about the database, into the lock file.

    One write replaces the whole record and never needs more space than the longest one did, so that no record is lost if
    this process is killed or the disk is full.
    """
    record = json.dumps(own_process() | noted.as_json()).encode()
    os.pwrite(descriptor, record.ljust(os.fstat(descriptor).st_size), 0)


def own_process() -> dict[str, Any]:
    """The identity of this process: what `recorded_process` compares, and its mount namespace for `fastpath/reach.py`."""
    mounts = mount_namespace()
    return describe_process(os.getpid()) | {"mount_namespace": mounts.value if isinstance(mounts, Known) else None}


def _lock(path: Path) -> int:
    """An exclusively locked descriptor of the file that is at `path` in the end. Raises BlockingIOError if it is held."""
    while True:
        descriptor = open_file(str(path), flags=os.O_RDWR | os.O_CREAT)
        try:
            _flock(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        named = locked_file(descriptor, path)
        if isinstance(named, Known):
            return descriptor
        os.close(descriptor)
        if isinstance(named, Unknown):
            raise OSError(errno.EIO, named.reason)
        # The file was replaced between opening and locking, so this lock guards nothing. Try again.


def _flock(descriptor: int) -> None:
    """Lock an open file exclusively. Raises BlockingIOError if it stays held."""
    for _ in range(LOCK_TRIES - 1):
        with contextlib.suppress(BlockingIOError):
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(RETRY_SECONDS)
    return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def locked_file(descriptor: int, path: Path) -> Reading[os.stat_result]:
    """The file at `path`, not following links, if it is the open one. Absent if it is another file or none."""
    try:
        opened, named = os.fstat(descriptor), os.stat(path, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as fault:
        return Unknown(f"cannot be accessed: {fault.strerror}")
    return Known(named) if os.path.samestat(opened, named) else ABSENT


def _last_epoch(common_dir: str) -> int:
    with contextlib.suppress(NoServerError):
        return int(read_lease(common_dir)["epoch"])
    return 0
