from __future__ import annotations

import os
import subprocess
import sys

import pytest

from brief.core.sessions.life import Life
from brief.fastpath import process as processes
from brief.sessions.processes import find_process, process_life


def test_process_that_runs() -> None:
    """A process that runs has a start, this run of the machine and its table, the same at every look."""
    found = find_process(os.getpid())
    assert None not in (found.start, found.boot, found.table)
    assert found == find_process(os.getpid())
    assert process_life(found) is Life.ALIVE


def test_process_that_ended() -> None:
    """A process that was found once is gone when its number is free, or another's."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        found = find_process(process.pid)
        process.communicate(b"")
    assert process_life(found) is Life.GONE
    assert process_life(find_process(os.getpid()).replace(start=1)) is Life.GONE


def test_number_that_nobody_has() -> None:
    """A number that no process of ours has may be a container's, so nothing is said about it."""
    found = find_process(2**31 - 1)
    assert (found.start, found.table) == (None, None)
    assert process_life(found) is Life.UNKNOWN


def test_where_proc_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is gone because /proc could not be read, neither when it was recorded nor when it is judged."""
    found = find_process(os.getpid())
    monkeypatch.setattr(processes, "PROC", "/nowhere")
    assert process_life(found) is Life.UNKNOWN
    assert process_life(find_process(os.getpid())) is Life.UNKNOWN
