"""Decide whether the process that holds a repository can be reached from here. Used only if no server answered.

As soon as the holder has locked `lease.lock`, it writes into it who it is. `process_table` and `mount_namespace` are the
links `/proc/self/ns/pid` and `.../mnt` (namespaces(7)); `boot_id` names the boot of the machine. The kernel keeps the lock
itself and shows it to all its containers.
"""

from __future__ import annotations

import os

from brief.fastpath.jsontext import read_json
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.fastpath.lease import NoServerError, read_lease, state_dir
from brief.fastpath.process import PROC, boot_id, process_table
from brief.fastpath.proof import UnprovenError, open_in

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from typing import Any

    from brief.fastpath.known import Reading

LOCK = "lease.lock"
_MOST = 65_536


def mount_namespace() -> Reading[str]:
    """The mount namespace of this process. Absent on a system without mount namespaces."""
    try:
        return Known(os.readlink(f"{PROC}/self/ns/mnt"))
    except FileNotFoundError:
        return ABSENT
    except OSError as fault:
        return Unknown(f"cannot be read: {fault.strerror}")


def held_lock(common_dir: str) -> Reading[dict[str, Any]]:
    """The record that the lease holder wrote about itself, empty if it is unreadable. Absent if nobody holds the lease."""
    try:
        descriptor = open_in(state_dir(common_dir), LOCK)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except UnprovenError as fault:
        return Unknown(f"is not asked: {fault}")
    except OSError as fault:
        return Unknown(f"cannot be opened: {fault.strerror}")
    from fcntl import LOCK_NB, LOCK_SH, flock  # noqa: PLC0415 - not needed if a server answers

    try:
        flock(descriptor, LOCK_SH | LOCK_NB)
    except BlockingIOError:
        return Known(_record(descriptor))
    except OSError as fault:
        return Unknown(f"cannot be asked about its lock: {fault.strerror}")
    finally:
        os.close(descriptor)
    return ABSENT


def _record(descriptor: int) -> dict[str, Any]:
    try:
        record = read_json(os.pread(descriptor, _MOST, 0))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def why_elsewhere(holder: dict[str, Any]) -> str | None:
    """A phrase for where the holder of the lock runs, if it is proven to run elsewhere. Otherwise None."""
    for kind, here, where in (
        ("boot_id", boot_id(), "on another machine"),
        ("process_table", process_table(), "in another container or sandbox"),
        ("mount_namespace", mount_namespace(), "in another container or sandbox, or with a runtime folder of its own"),
    ):
        named = holder.get(kind)
        if named and isinstance(here, Known) and named != here.value:
            return where
    return None


def why_out_of_reach(common_dir: str, holder: dict[str, Any], *, waited: bool = False) -> str | None:
    """A sentence, if the holder of the lock runs elsewhere and its socket cannot be seen from here. Otherwise None.

    A holder that has not written its lease yet may still become reachable, unless it was `waited` for.
    """
    where = why_elsewhere(holder)
    if where is None or not _is_without_socket(common_dir, holder, waited=waited):
        return None
    return (
        f"a server holds {common_dir} and is out of reach from here: it runs {where} (pid {holder.get('pid')} there); "
        "use majordomus there, or stop it there with majordomus serve stop"
    )


def _is_without_socket(common_dir: str, holder: dict[str, Any], *, waited: bool) -> bool:
    """Whether the holder's socket does not exist here. If no lease names a socket yet, the answer is `waited`."""
    try:
        lease = read_lease(common_dir)
    except NoServerError:
        return waited
    names = ("pid", "process_start", "process_table")
    is_of_holder = all(lease.get(name) == holder.get(name) for name in names)
    return not os.path.lexists(lease["socket"]) if is_of_holder else waited
