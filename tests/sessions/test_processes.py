from __future__ import annotations

import os
import subprocess
import sys

from brief.sessions.processes import find_process


def test_process_that_runs() -> None:
    """A process that runs has a start and this run of the machine, the same at every look."""
    found = find_process(os.getpid())
    assert found.start is not None
    assert found.boot is not None
    assert found == find_process(os.getpid())


def test_process_that_ended() -> None:
    """A number that nobody has any more, or that never was one, has no start."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert find_process(process.pid).start is None
    assert find_process(2**31 - 1).start is None
