"""Whether the very process that a record names still runs, as far as the kernel can be asked.

A number alone names nobody: it is given again. A record adds when its process began, in which run of the machine, and in
which process table, since each container counts processes by itself. `pid`, `process_start`, `boot_id` and
`process_table` are the keys.
"""

from __future__ import annotations

import os
import sys

from brief.fastpath.known import ABSENT, Known, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from typing import Any

    from brief.fastpath.known import Reading

PROC = "/proc"
MOST_PID = 2**31 - 1

_MOST = 4_096
_ENDED = ("Z", "X", "x")
"""States of a process that has ended and whose parent was not told yet (proc_pid_stat(5))."""


def boot_id() -> Reading[str]:
    """The id of this run of the machine; absent on a system that gives none."""
    if not sys.platform.startswith("linux"):
        return ABSENT
    try:
        return Known(_read(f"{PROC}/sys/kernel/random/boot_id").strip())
    except OSError as fault:
        return _unread("boot_id", fault)


def process_table() -> Reading[str]:
    """The table in which this process has its number, a PID namespace; absent on a system that has only one."""
    if not sys.platform.startswith("linux"):
        return ABSENT
    try:
        return Known(os.readlink(f"{PROC}/self/ns/pid"))
    except OSError as fault:
        return _unread("self/ns/pid", fault)


def process_start(pid: int) -> Reading[int]:
    """When a process began, in clock ticks since boot (proc_pid_stat(5), field 22).

    Absent only where the kernel says that no process has the number, or that the one which has it has ended. A /proc that
    is missing, hides the process (`hidepid`) or shows another process table proves nothing.
    """
    if not 0 < pid <= MOST_PID or not _has_process(pid):
        return ABSENT
    try:
        is_own_table = os.readlink(f"{PROC}/self") == str(os.getpid())
        text = _read(f"{PROC}/{pid}/stat") if is_own_table else ""
    except OSError as fault:
        return _unread(f"{pid}/stat", fault) if _has_process(pid) else ABSENT
    if not is_own_table:
        return Unknown(f"{PROC} shows the processes of another process table")
    # The name, in parentheses, may hold anything, parentheses and spaces too: count from behind its end.
    fields = text[text.rfind(")") + 2 :].split()
    if fields[:1] and fields[0] in _ENDED:
        return ABSENT
    return Known(int(fields[19])) if len(fields) > 19 else Unknown(f"{PROC}/{pid}/stat is not understood")


def describe_process(pid: int) -> dict[str, Any]:
    """A record of the process that has this number now: null for what cannot be told, "" for the only table of a system."""
    start, boot, table = process_start(pid), boot_id(), process_table()
    return {
        "pid": pid,
        "process_start": start.value if isinstance(start, Known) else None,
        "boot_id": boot.value if isinstance(boot, Known) else None,
        "process_table": table.value if isinstance(table, Known) else "" if table is ABSENT else None,
    }


def may_have_ended(pid: int) -> bool:
    """Whether it is worth asking if a process has ended, at a tenth of what the answer costs; False is no proof.

    A free number and a process that has ended have no program any more, and one that took the number over hides here.
    """
    try:
        os.readlink(f"{PROC}/{pid}/exe")
    except OSError as fault:
        return not isinstance(fault, PermissionError)
    return False


def recorded_process(
    record: dict[str, Any], boot: Reading[str] | None = None, table: Reading[str] | None = None
) -> Reading[int]:
    """The number of the process that a record names, while that very process runs; absent once it is proven gone.

    A record that names no table is taken for one of our own. Who asks for many reads `boot` and `table` once.
    """
    pid, start, of_boot, of_table = (record.get(key) for key in ("pid", "process_start", "boot_id", "process_table"))
    if type(pid) is not int or not 0 < pid <= MOST_PID:
        return ABSENT
    boot, table = boot or boot_id(), table or process_table()
    if of_boot is not None and isinstance(boot, Known) and of_boot != boot.value:
        return ABSENT
    if of_table is not None and of_table != (table.value if isinstance(table, Known) else ""):
        return table if isinstance(table, Unknown) else Unknown(f"process {pid} is in another process table")
    found = process_start(pid)
    if not isinstance(found, Known):
        return found
    if start is None or (of_boot is not None and isinstance(boot, Unknown)):
        return Unknown(f"process {pid} may be a later one of the same number")
    return Known(pid) if found.value == start else ABSENT


def _has_process(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it is there, and somebody else's
    return True


def _read(path: str) -> str:
    """The text of a file of /proc; raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.fsdecode(os.read(descriptor, _MOST))
    finally:
        os.close(descriptor)


def _unread(name: str, fault: OSError) -> Unknown:
    return Unknown(f"{PROC}/{name} cannot be read: {fault.strerror or fault}")
