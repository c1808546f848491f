"""A process that the fork server makes is no other than one that Python starts anew."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from forked import Forked
from sandbox import COMMAND, Lab, until

PIPES: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}

PROBE = """
import json, os, signal, sys, time
mask = os.umask(0)
held = sorted(os.listdir("/proc/self/fd"))
signals = {number: str(signal.getsignal(number)) for number in signal.valid_signals()}
sys.stderr.write("said")
print(json.dumps({
    "words": sys.argv, "folder": os.getcwd(), "environment": dict(os.environ), "umask": mask, "zone": time.tzname,
    "read": sys.stdin.read(), "held": len(held), "signals": signals,
    "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "leads": os.getsid(0) == os.getpid(),
    "group": os.getpgid(0) == os.getpid(), "alarm": signal.getitimer(signal.ITIMER_REAL),
    "streams": [(one.encoding, one.errors, one.isatty()) for one in (sys.stdin, sys.stdout, sys.stderr)],
}))
sys.exit(int(sys.argv[1]))
"""


def started(lab: Lab, code: str, *words: str, forked: bool, **named: Any) -> subprocess.Popen[str]:
    """A process of either kind in the world of the lab."""
    whole = {"cwd": lab.home, "env": lab.env, **PIPES, **named}
    return Forked(code, *words, **whole) if forked else subprocess.Popen([sys.executable, "-c", code, *words], **whole)


@pytest.mark.parametrize("leads", [False, True])
def test_it_is_like_any_other(lab: Lab, leads: bool) -> None:
    """Words, folder, environment, zone, umask, streams, descriptors, signals, session and exit code are those asked for."""
    lab.env |= {"TZ": "Pacific/Auckland", "ODD": "a\udcff\n"}
    said = []
    for forked in (False, True):
        old = os.umask(0o027)
        try:
            process = started(lab, PROBE, "7", "ž\udcff", forked=forked, start_new_session=leads)
        finally:
            os.umask(old)
        out, err = process.communicate("given", timeout=60)
        said.append((process.returncode, json.loads(out), err))
    assert said[0] == said[1]
    assert (said[0][0], said[0][1]["read"], said[0][1]["leads"], said[0][1]["umask"]) == (7, "given", leads, 0o027)


@pytest.mark.parametrize(
    ("code", "ended", "error"),
    [
        ("", 0, ""),
        ("raise SystemExit('a sentence')", 1, "a sentence\n"),
        ("import os; os._exit(9)", 9, ""),
        ("import os; os.kill(os.getpid(), 9)", -9, ""),
        ("import os; os.kill(os.getpid(), 15)", -15, ""),
        ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
    ],
)
def test_it_ends_like_any_other(lab: Lab, code: str, ended: int, error: str) -> None:
    """However a forked process ends, its end is reported like that of any process."""
    for forked in (False, True):
        process = started(lab, code, forked=forked)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err.endswith(error)) == (ended, True), err


def test_it_is_waited_for_like_any_other(lab: Lab) -> None:
    """While a forked process runs it can be polled, timed out and interrupted; afterwards it is gone."""
    with started(lab, "import time; print('begun', flush=True); time.sleep(600)", forked=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_nothing_of_one_is_left_to_the_next(lab: Lab) -> None:
    """Changes of a process to its modules, folder and environment end with it."""
    change = "import os, brief.server.holder as h; h.CHANGED = os.environ['CHANGED'] = '1'; os.chdir('/'); os.umask(0)"
    assert started(lab, change, forked=True).communicate(timeout=60) == ("", "")
    look = "import os, brief.server.holder as h; print(hasattr(h, 'CHANGED'), 'CHANGED' in os.environ, os.getcwd())"
    assert started(lab, look, forked=True).communicate(timeout=60) == (f"False False {lab.home}\n", "")


def test_each_draws_its_own_lots(lab: Lab) -> None:
    """Two of them never draw the same random numbers."""
    drawn = {started(lab, "import random; print(random.random())", forked=True).communicate()[0] for _ in range(5)}
    assert len(drawn) == 5


@pytest.mark.parametrize("spawn", [False, True])
def test_the_command_is_forked_or_spawned(lab: Lab, spawn: bool) -> None:
    """A command of the sandbox is forked, unless it must be spawned or has options that only a new Python understands."""
    assert lab.majordomus("--version", spawn=spawn).args[1:3] == (["-m", "brief"] if spawn else ["-c", COMMAND])
    assert lab.majordomus("--version", env={"LC_ALL": "C"}).args[1:3] == ["-m", "brief"]
    assert lab.majordomus("--version", env={"PYTHONIOENCODING": "ascii"}).args[1:3] == ["-m", "brief"]
    first, second = (lab.majordomus("brief", "--help", spawn=how) for how in (False, True))
    assert (first.stdout, first.stderr, first.returncode) == (second.stdout, second.stderr, second.returncode)


def test_a_forked_server_ends_with_its_lab() -> None:
    """A server that was forked is a process of its own, known to the lab and ended with it."""
    with Lab() as lab:
        server = lab.start_server()
        assert lab.processes() == [server.pid]
        assert os.getsid(server.pid) == server.pid
        os.kill(server.pid, signal.SIGSTOP)
        with contextlib.suppress(subprocess.TimeoutExpired):
            lab.majordomus("brief", seconds=0.001)
        os.kill(server.pid, signal.SIGCONT)
    assert server.returncode is not None
    until(lambda: not os.path.exists(f"/proc/{server.pid}"))
