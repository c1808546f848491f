"""The lease of a repository: an exclusive flock for the life of the process, and a file that says who holds it.

The kernel frees the lock however the process ends, so no pid is trusted. The file is for readers: it is written by
rename, and its epoch only ever grows. The lock file itself names the process that locked it: the lease file may be that
of the one before.
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
from brief.server.owned_file import Made
from brief.sessions.database import stored_epoch
from brief.sessions.losses import MOST_RECORD, NOTHING_NOTED, LockRecord, Loss, read_lock_record
from brief.support.files import replace
from brief.support.state_folder import make_state

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

DATABASE = "majordomus.db"
LOCK_TRIES = 3
RETRY_SECONDS = 0.01
"""Who only asks whether the lock is held (`held_lock`) holds it for a moment."""


class HeldError(ConflictError):
    """Another process holds the lease."""


class LeaseError(MajordomusError):
    """No lease can be held in this repository, and why."""


class Lease:
    """The right to be the server of a repository, as long as `is_ours` says so.

    `noted` is what the last holder, and then this one, noted about the database.
    """

    def __init__(self, common_dir: str, descriptor: int, epoch: int, noted: LockRecord = NOTHING_NOTED) -> None:
        self.common_dir = common_dir
        self.state_dir = Path(state_dir(common_dir))
        self._lock_path = self.state_dir / LOCK
        self.epoch = epoch
        self.noted = noted
        self._descriptor: int | None = descriptor
        self._record = b""
        self._file: Made | None = None

    @classmethod
    def take(cls, common_dir: str, now: datetime) -> Lease:
        """Take the lease; raises HeldError where somebody has it, LeaseError where nobody can."""
        folder = Path(state_dir(common_dir))
        try:
            make_state(str(folder))
            descriptor, noted = _named_lock(folder / LOCK)
        except BlockingIOError:
            raise HeldError(f"another server holds {common_dir}") from None
        except UnprovenError as fault:
            raise LeaseError(f"no server can be held: {fault}") from fault
        except OSError as fault:
            raise LeaseError(f"no server can be held: {folder} cannot be written ({fault.strerror})") from fault
        last = max(_last_epoch(common_dir), stored_epoch(folder / DATABASE))
        if last >= MOST_EPOCH:
            os.close(descriptor)
            raise LeaseError(
                f"no server can be held: {folder / DATABASE} names epoch {last}, which no clock ever gave; move it away"
            )
        return cls(common_dir, descriptor, max(last + 1, int(now.timestamp() * 1000)), noted)

    def publish(
        self, socket: Path, tcp: str | None, since: datetime, installed: Sequence[Sequence[str | int]] = ()
    ) -> None:
        """Say who holds the lease, where it answers, and which files it runs from (`Installation.recorded`)."""
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
        """Note in the lock, for the next holder, the generation of the database, and that in its file. Raises OSError."""
        self._note(LockRecord(had_database=True, generation=generation, in_file=in_file))

    def note_loss(self, at: datetime, reason: str) -> Loss:
        """Note in the lock that the database was lost, for the next holder. Later calls keep the first moment.

        Returns what is noted. Raises OSError.
        """
        loss = Loss(at if self.noted.loss is None else self.noted.loss.at, reason)
        self._note(self.noted._replace(loss=loss))
        return loss

    def _note(self, noted: LockRecord) -> None:
        if self._descriptor is not None and noted != self.noted:
            _name_process(self._descriptor, noted)
        self.noted = noted

    def renew(self) -> bool:
        """Write the file again where it is no longer ours; only for the holder of the lock, who alone may. Raises OSError."""
        if self._file is None or self._file.is_there():
            return False
        self._write()
        return True

    def _write(self) -> None:
        path = self.state_dir / "lease.json"
        replace(path, self._record)
        self._file = Made.at(path)

    def is_ours(self) -> bool:
        """Whether the lock that the path names is proven to be the one we hold: nothing is written where it is not."""
        return self._descriptor is not None and isinstance(locked_file(self._descriptor, self._lock_path), Known)

    def is_lost(self) -> bool:
        """Whether it is proven that we hold the lease no more; a file that cannot be accessed proves nothing."""
        return self._descriptor is None or locked_file(self._descriptor, self._lock_path) is ABSENT

    def free(self) -> None:
        """Free the lock, so that another can take it; whoever does this writes nothing more."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def release(self) -> None:
        """Withdraw the file, if it is still ours, and free the lock."""
        if self._file is not None:
            self._file.remove()
        self.free()


def _named_lock(path: Path) -> tuple[int, LockRecord]:
    """A locked descriptor of the file, which names this process from now on; and what the last holder noted in it.

    Raises OSError, and then nothing is locked.
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
    """Write into the lock who holds it, and what it notes about the database.

    One write replaces the whole record, and needs no more space than the longest record did: it must not be lost when
    this process is killed, or the disk is full.
    """
    record = json.dumps(own_process() | noted.as_json()).encode()
    os.pwrite(descriptor, record.ljust(os.fstat(descriptor).st_size), 0)


def own_process() -> dict[str, Any]:
    """What `recorded_process` tells this process by, and `fastpath/reach.py` where it runs."""
    mounts = mount_namespace()
    return describe_process(os.getpid()) | {"mount_namespace": mounts.value if isinstance(mounts, Known) else None}


def _lock(path: Path) -> int:
    """An exclusively locked descriptor of the file that lies at `path` at the end; raises BlockingIOError if it is held."""
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
        # The file was replaced between opening and locking: what we hold guards nothing, and it is tried again.


def _flock(descriptor: int) -> None:
    """Lock an open file exclusively; raises BlockingIOError where it stays held."""
    for _ in range(LOCK_TRIES - 1):
        with contextlib.suppress(BlockingIOError):
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(RETRY_SECONDS)
    return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def locked_file(descriptor: int, path: Path) -> Reading[os.stat_result]:
    """The file at `path`, links not followed, where it is the one that is open; absent where that is another or none."""
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
