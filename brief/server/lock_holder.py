"""Proves which process holds a lease before sending it a signal. A file that names a process proves nothing.

A process counts as our server of this git folder only if all of this holds: its uid is ours, its start time and boot id are those
in the lock file, its command line is a server's, and the kernel says that one of its descriptors holds the lock. The signal
goes through a pidfd that is opened before the proof, so that the pid cannot be reused in between.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from brief.fastpath.known import Known, Unknown
from brief.fastpath.lease import state_dir
from brief.fastpath.process import recorded_process
from brief.fastpath.reach import LOCK, held_lock, why_elsewhere
from brief.support.files import reason_of

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

SERVER = b"brief.server"
"""The module of a server that a command started. Its first argument is the git folder."""

RUN = (b"serve", b"run")
"""The words with which a person starts a server in the foreground."""


def end_holder(common_dir: str) -> str | None:
    """Kill the server that holds the lease. Returns why it was not killed, or None if nobody holds the lease any more."""
    found = open_holder(common_dir)
    if isinstance(found, Unknown):
        return found.reason
    if isinstance(found, Known):
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(found.value, signal.SIGKILL)
        os.close(found.value)
    return None


def open_holder(common_dir: str) -> Reading[int]:
    """A pidfd of the lease holder, if it is proven to be our server. The caller closes it. Absent if nobody holds the lease."""
    held = held_lock(common_dir)
    if not isinstance(held, Known):
        return held
    pid = held.value.get("pid")
    if type(pid) is not int or pid < 1:
        return Unknown("the lock file does not name the process that locked it")
    where = why_elsewhere(held.value)
    if where is not None:
        return Unknown(f"it runs {where}")
    if sys.platform != "linux":
        return Unknown("this system has no way to prove whose process it is")
    try:
        pidfd = os.pidfd_open(pid)
    except (OSError, OverflowError) as fault:
        return Unknown(f"pid {pid}, which the lock file names, cannot be opened: {reason_of(fault)}")
    try:
        doubt = _why_unproven(pid, held.value, common_dir)
    except (OSError, ValueError) as fault:
        doubt = f"/proc/{pid} cannot be read: {reason_of(fault)}"
    if doubt is not None:
        os.close(pidfd)
        return Unknown(doubt)
    return Known(pidfd)


def _why_unproven(pid: int, holder: dict[str, Any], common_dir: str) -> str | None:
    """Why the process is not proven to be our server, or None. Raises OSError or ValueError if it cannot be examined."""
    if recorded_process(holder) != Known(pid):
        return f"pid {pid}, which the lock file names, is not the process that wrote it"
    if not _is_of_user(pid):
        return f"pid {pid}, which the lock file names, is not a process of yours"
    if not _is_server(_command_line(pid), common_dir):
        return f"pid {pid}, which the lock file names, is not a server of majordomus for {common_dir}"
    if not _holds_lock(pid, f"{state_dir(common_dir)}/{LOCK}"):
        return f"pid {pid}, which the lock file names, does not hold the lock"
    return None


def _is_of_user(pid: int) -> bool:
    """Whether all four uids of a process (real, effective, saved, file system) are ours."""
    with open(f"/proc/{pid}/status", "rb") as file:
        line = next(line for line in file.read().splitlines() if line.startswith(b"Uid:"))
    return {int(uid) for uid in line.split()[1:]} == {os.geteuid()}


def _command_line(pid: int) -> list[bytes]:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().split(b"\0")[:-1]


def _is_server(words: list[bytes], common_dir: str) -> bool:
    pairs = list(itertools.pairwise(words))
    is_ours = any(b"brief" in word or b"majordomus" in word for word in words)
    return (SERVER, os.fsencode(common_dir)) in pairs or (is_ours and RUN in pairs)


def _holds_lock(pid: int, path: str) -> bool:
    """Whether a descriptor of the process holds the exclusive flock of the file at `path` (proc_pid_fdinfo(5))."""
    lock = os.stat(path, follow_symlinks=False)
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed in the meantime
            if os.path.samestat(os.stat(f"/proc/{pid}/fd/{name}"), lock):
                with open(f"/proc/{pid}/fdinfo/{name}", "rb") as file:
                    locks = [line.split() for line in file.read().splitlines() if line.startswith(b"lock:")]
                if any(b"FLOCK" in words and b"WRITE" in words for words in locks):
                    return True
    return False
