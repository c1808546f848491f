"""The processes of episodes, as the operating system reports them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from brief.core.sessions.episode import Episode, KnownEpisode, Process
from brief.core.sessions.life import Life, session_life
from brief.core.sessions.succession import leaves_successor
from brief.fastpath.known import ABSENT, Absent, Known
from brief.fastpath.process import boot_id, process_start, process_table, recorded_process

_OF_ANOTHER_TABLE = "another"
"""A name that no process table has."""


def find_process(pid: int) -> Process:
    """The process that has this number now. Without a table if no process has it, since it may be another container's."""
    start, boot, table = process_start(pid), boot_id(), process_table()
    own_table = table.value if isinstance(table, Known) else "" if table is ABSENT else None
    return Process(
        pid=pid,
        start=start.value if isinstance(start, Known) else None,
        boot=boot.value if isinstance(boot, Known) else None,
        table=None if start is ABSENT else own_table,
    )


def has_no_process(pid: int) -> bool:
    """Whether it is proven that no process of our own process table has this number now."""
    return process_start(pid) is ABSENT


def process_life(process: Process) -> Life:
    """Whether that very process is alive. Unknown if its process table is unknown or not ours."""
    return next(process_lives((process,)))


def process_lives(processes: Iterable[Process]) -> Iterator[Life]:
    """Whether each of many processes is alive, in their order. What they share is read once."""
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


def stored_life(episode: Episode | None) -> Life:
    """Whether a session that is not open is gone. Unknown if it is not stored.

    Also unknown is one that was cleared while its client lives: its successor, which inherits its locks, is about to open.
    """
    if episode is None:
        return Life.UNKNOWN
    if episode.process is None or not leaves_successor(episode.closed_reason):
        return Life.GONE
    return Life.UNKNOWN if process_life(episode.process) is Life.ALIVE else Life.GONE


def known_life(known: KnownEpisode) -> Life:
    """Whether the session of an open episode is alive: the one answer that boards, locks and notices share."""
    process = known.episode.process
    return session_life(Life.UNKNOWN if process is None else process_life(process), known.liveness)
