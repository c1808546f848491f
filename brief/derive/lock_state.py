"""The state of the derive lock, read without waiting for it and without disturbing whoever takes it.

The lock is an exclusive flock on `derive.lock`, so the kernel releases it however its holder ends. `derive.json` beside
it names the holder and counts those who wait.
"""

from __future__ import annotations

import fcntl
import os
import re
from enum import Enum
from typing import Annotated, Literal

from msgspec import DecodeError, Meta, Struct

from brief.core.model.errors import MajordomusError
from brief.core.model.first_fault import first_fault
from brief.core.model.wire import Count, Moment, Wire, from_json
from brief.fastpath.proof import UnprovenError, check, open_file
from brief.support.files import UnreadableFileError, reason_of
from brief.support.state_folder import read_own, refuse_unproven

_MOST = 65_536
_PROC_LOCKS = "/proc/locks"
_EXCLUSIVE = re.compile(r"^\d+: FLOCK +ADVISORY +WRITE +\S+ +(\S+:\S+):(\d+) ", re.MULTILINE)
_TRIES = 3


class DeriveError(MajordomusError):
    """The derive lock cannot be read."""


class Holder(Wire, frozen=True):
    """The holder of the lock, as it describes itself. `command` is its command line."""

    episode: str | None
    pid: Annotated[int, Meta(ge=1)]
    checkout: str
    command: str
    since: Moment


class Names(Wire, frozen=True):
    """The content of `derive.json`. `holder` is None while nobody claims the lock."""

    holder: Holder | None = None
    waiting: Count = 0


class DeriveState(Struct, frozen=True):
    """The state of the lock: `held` as the kernel says, `stale` if it is free but still names a holder.

    `reason` says what is wrong, None if nothing is.
    """

    state: Literal["free", "held", "stale"]
    holder: Holder | None = None
    waiting: int = 0
    reason: str | None = None


def read_lock(state_dir: str) -> DeriveState:
    """The state of the lock in `state_dir` at this moment.

    Raises DeriveError if it cannot be read, UnprovenStateError if the folder may be somebody else's.
    """
    refuse_unproven(state_dir)
    lock, record = f"{state_dir}/derive.lock", f"{state_dir}/derive.json"
    for _ in range(_TRIES):
        before = _is_held(lock, claimed=False)
        names, fault = _read(record)
        after = _is_held(lock, claimed=names.holder is not None)
        # Otherwise the lock was taken or released while we read, and the two files may not agree: read both again.
        if before == after:
            break
    return _state_of(names, fault, held=after)


def _state_of(names: Names, fault: str | None, *, held: bool) -> DeriveState:
    if held:
        unnamed = None if names.holder else fault or "derive.json does not name the holder yet"
        return DeriveState("held", names.holder, names.waiting, unnamed)
    if names.holder:
        reason = (
            f"nobody holds derive.lock, but derive.json still names process {names.holder.pid}, which did not finish"
        )
        return DeriveState("stale", names.holder, names.waiting, reason)
    return DeriveState("free", None, names.waiting, fault)


def _read(path: str) -> tuple[Names, str | None]:
    """The content of `derive.json`, and what is wrong with it."""
    try:
        return from_json(Names, read_own(path, _MOST)), None
    except FileNotFoundError:
        return Names(), None
    except UnprovenError as error:
        return Names(), str(error)
    except UnreadableFileError as error:
        return (Names(), f"derive.json {error}, so it is unknown who holds the lock and who waits")
    except DecodeError as error:
        where = first_fault(error).where or "the text"
        return (
            Names(),
            f"derive.json cannot be understood at {where}, so it is unknown who holds the lock and who waits",
        )


# ---------------------------------------------------------------- asking the kernel


class _Listed(Enum):
    """What /proc/locks says about a file."""

    HELD = "held"
    ABSENT = "absent"
    UNCLEAR = "unclear"


def _is_held(lock: str, *, claimed: bool) -> bool:
    """Whether somebody holds the exclusive flock.

    /proc/locks does not show a lock that was taken in another container. If it shows none although `derive.json` claims
    one, the lock itself is tried.
    """
    try:
        found = os.stat(lock, follow_symlinks=False)
        check(found, lock, is_folder=False)
    except FileNotFoundError:
        return False
    except UnprovenError as error:
        raise DeriveError(str(error)) from error
    except OSError as error:
        raise DeriveError(f"{lock} cannot be accessed: {reason_of(error)}") from error
    listed = _find_listed(found)
    if listed is _Listed.UNCLEAR or (listed is _Listed.ABSENT and claimed):
        return _is_refused(lock)
    return listed is _Listed.HELD


def _find_listed(found: os.stat_result) -> _Listed:
    """Look for `1: FLOCK ADVISORY WRITE pid major:minor:inode 0 EOF`, the device in hexadecimal digits."""
    try:
        with open(_PROC_LOCKS, encoding="ascii", errors="replace") as file:
            listed = _EXCLUSIVE.findall(file.read())
    except OSError:
        return _Listed.UNCLEAR
    alike = [device for device, inode in listed if inode == str(found.st_ino)]
    if not alike:
        return _Listed.ABSENT
    device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}"
    # On btrfs and overlayfs the device in /proc/locks differs from the one that stat reports.
    return _Listed.HELD if device in alike else _Listed.UNCLEAR


def _is_refused(lock: str) -> bool:
    """Whether the lock is refused to us. A shared attempt for an instant does not disturb a holder."""
    try:
        descriptor = open_file(lock)
    except FileNotFoundError:
        return False
    except UnprovenError as error:
        raise DeriveError(str(error)) from error
    except OSError as error:
        raise DeriveError(f"{lock} cannot be opened: {reason_of(error)}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        raise DeriveError(f"{lock} cannot be tried: {reason_of(error)}") from error
    finally:
        os.close(descriptor)
    return False
