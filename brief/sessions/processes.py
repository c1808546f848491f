"""What the machine says of the processes of episodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from brief.core.sessions.episode import KnownEpisode, Process
from brief.core.sessions.life import Life, session_life
from brief.fastpath.known import ABSENT, Absent, Known
from brief.fastpath.process import boot_id, process_start, process_table, recorded_process

_OF_ANOTHER_TABLE = "another"
"""What no process table is called."""


def find_process(pid: int) -> Process:
    """The process that has this number now; without a table where none has it, since it may be another container's."""
    start, boot, table = process_start(pid), boot_id(), process_table()
    own_table = table.value if isinstance(table, Known) else "" if table is ABSENT else None
    return Process(
        pid=pid,
        start=start.value if isinstance(start, Known) else None,
        boot=boot.value if isinstance(boot, Known) else None,
        table=None if start is ABSENT else own_table,
    )


def has_no_process(pid: int) -> bool:
    """Whether it is proven that no process of our own table has this number now."""
    return process_start(pid) is ABSENT


def process_life(process: Process) -> Life:
    """Whether that very process runs; unknown where its table is not known or not ours."""
    return next(process_lives((process,)))


def process_lives(processes: Iterable[Process]) -> Iterator[Life]:
    """The same of many, in their order; what they have in common is read once."""
    boot, table = boot_id(), process_table()
    for process in processes:
        of_table = _OF_ANOTHER_TABLE if process.table is None else process.table
        record = {
            "pid": process.pid,
            "process_start": process.start,
            "boot_id": process.boot,
            "process_table": of_table,
        }
        found = recorded_process(record, boot, table)
        yield Life.ALIVE if isinstance(found, Known) else Life.GONE if isinstance(found, Absent) else Life.UNKNOWN


def known_life(known: KnownEpisode) -> Life:
    """Whether the session of an open episode lives, as board, locks and notices all have it."""
    process = known.episode.process
    return session_life(Life.UNKNOWN if process is None else process_life(process), known.liveness)
