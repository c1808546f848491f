"""Decide whether the very process that a record names still runs, as far as the kernel says.

A process number alone is not an identity, because the kernel reuses it. A record therefore also says when its process
began, in which boot of the machine, and in which process table (PID namespace), since each container numbers its own
processes. Its keys are `pid`, `process_start`, `boot_id` and `process_table`.
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
"""States of a process that has ended and that its parent has not yet reaped (proc_pid_stat(5))."""


def boot_id() -> Reading[str]:
    """The id of the current boot. Absent on a system that has no such id."""
    if not sys.platform.startswith("linux"):
        return ABSENT
    try:
        return Known(_read(f"{PROC}/sys/kernel/random/boot_id").strip())
    except OSError as fault:
        return _make_unknown("boot_id", fault)


def process_table() -> Reading[str]:
    """The PID namespace in which this process has its number. Absent on a system that has only one."""
    if not sys.platform.startswith("linux"):
        return ABSENT
    try:
        return Known(os.readlink(f"{PROC}/self/ns/pid"))
    except OSError as fault:
        return _make_unknown("self/ns/pid", fault)


def process_start(pid: int) -> Reading[int]:
    """When a process began, in clock ticks since boot (proc_pid_stat(5), field 22).

    Absent only if the kernel says that no process has the number, or that the process has ended. A /proc that is missing,
    hides the process (`hidepid`) or shows another process table proves nothing.
    """
    if not 0 < pid <= MOST_PID or not _has_process(pid):
        return ABSENT
    try:
        is_own_table = os.readlink(f"{PROC}/self") == str(os.getpid())
        text = _read(f"{PROC}/{pid}/stat") if is_own_table else ""
    except OSError as fault:
        return _make_unknown(f"{pid}/stat", fault) if _has_process(pid) else ABSENT
    if not is_own_table:
        return Unknown(f"{PROC} shows the processes of another process table")
    # The name stands in parentheses and may itself hold parentheses and spaces, so count fields after its end.
    fields = text[text.rfind(")") + 2 :].split()
    if fields[:1] and fields[0] in _ENDED:
        return ABSENT
    return Known(int(fields[19])) if len(fields) > 19 else Unknown(f"{PROC}/{pid}/stat has an unknown format")


def describe_process(pid: int) -> dict[str, Any]:
    """A record of the process that has this number now.

    An unknown value is null; `process_table` is "" on a system that has only one.
    """
    start, boot, table = process_start(pid), boot_id(), process_table()
    return {
        "pid": pid,
        "process_start": start.value if isinstance(start, Known) else None,
        "boot_id": boot.value if isinstance(boot, Known) else None,
        "process_table": table.value if isinstance(table, Known) else "" if table is ABSENT else None,
    }


def may_have_ended(pid: int) -> bool:
    """A cheap first check, at a tenth of the cost of `recorded_process`. True means that it is worth asking.

    An unused number and an ended process have no program. False proves nothing: a later process may have the number.
    """
    try:
        os.readlink(f"{PROC}/{pid}/exe")
    except OSError as fault:
        return not isinstance(fault, PermissionError)
    return False


def recorded_process(
    record: dict[str, Any], boot: Reading[str] | None = None, table: Reading[str] | None = None
) -> Reading[int]:
    """The number of the process that a record names, while that very process runs. Absent once it is proven gone.

    A record without a process table counts as one of ours. For many records, read `boot` and `table` once and pass them.
    """
    pid, start, of_boot, of_table = (record.get(key) for key in ("pid", "process_start", "boot_id", "process_table"))
    if type(pid) is not int or not 0 < pid <= MOST_PID:
        return ABSENT
    boot, table = boot or boot_id(), table or process_table()
    if of_boot is not None and isinstance(boot, Known) and of_boot != boot.value:
        return ABSENT
    if of_table is not None and of_table != (table.value if isinstance(table, Known) else ""):
        return table if isinstance(table, Unknown) else Unknown(f"process {pid} is in another process table")
    is_boot_unknown = of_boot is not None and isinstance(boot, Unknown)
    return process_since(pid, None if is_boot_unknown else start)


def process_since(pid: int, start: int | None) -> Reading[int]:
    """The number of the process in our own table that began at `start`, while it runs. Unknown if `start` is None."""
    found = process_start(pid)
    if not isinstance(found, Known):
        return found
    if start is None:
        return Unknown(f"process {pid} may be a later process with the same number")
    return Known(pid) if found.value == start else ABSENT


def _has_process(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it exists and belongs to another user
    return True


def _read(path: str) -> str:
    """The text of a file in /proc. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.fsdecode(os.read(descriptor, _MOST))
    finally:
        os.close(descriptor)


def _make_unknown(name: str, fault: OSError) -> Unknown:
    return Unknown(f"{PROC}/{name} cannot be read: {fault.strerror or fault}")
