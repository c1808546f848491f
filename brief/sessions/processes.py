"""What the machine says of the process of an episode."""

from __future__ import annotations

from brief.core.sessions.episode import Process
from brief.core.sessions.life import Life
from brief.fastpath.known import Absent, Known
from brief.fastpath.process import describe_process, process_start, recorded_process

_OF_ANOTHER_TABLE = "another"
"""What no process table is called."""


def find_process(pid: int) -> Process:
    """The process that has this number now; without a table where none has it, since it may be another container's."""
    found = describe_process(pid)
    is_gone = isinstance(process_start(pid), Absent)
    return Process(
        pid=pid,
        start=found["process_start"],
        boot=found["boot_id"],
        table=None if is_gone else found["process_table"],
    )


def process_life(process: Process) -> Life:
    """Whether that very process runs; unknown where its table is not known or not ours."""
    table = _OF_ANOTHER_TABLE if process.table is None else process.table
    record = {"pid": process.pid, "process_start": process.start, "boot_id": process.boot, "process_table": table}
    found = recorded_process(record)
    if isinstance(found, Known):
        return Life.ALIVE
    return Life.GONE if isinstance(found, Absent) else Life.UNKNOWN
