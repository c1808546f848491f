"""What the machine says of a process, in the words by which one is told from a later one with the same number."""

from __future__ import annotations

from brief.core.sessions.episode import Process
from brief.fastpath.lease import boot_id, process_start


def find_process(pid: int) -> Process:
    """The process that has this number now; no start where there is none, it is another container's, or untellable."""
    return Process(pid=pid, start=process_start(pid), boot=boot_id())
