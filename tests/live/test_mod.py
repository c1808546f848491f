from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from claude import Session, settle_in
from live_house import beat_on, place_lock
from messages import Messages
from sandbox import Lab, until
from serving import lease, write_policy

LINE = "derive free"
"""What the line of a quiet repository ends with."""


@pytest.mark.parametrize("columns", [60, 100, 160])
def test_the_line_is_drawn(house: Lab, messages: Messages, columns: int) -> None:
    """The line stands below the box, one dim row without a sign of warning, below the person's own status line."""
    settle_in(house, house.repo, statusLine={"type": "command", "command": "echo MY OWN LINE"})
    with Session(house, messages, house.repo, columns) as session:
        session.shows(LINE)
        session.shows("MY OWN LINE")
        own, line, *_ = session.footer()
        assert own == "MY OWN LINE"
        assert re.match(r"peers \d", line)
        styled = next(row for row in session.screen(styled=True).splitlines() if LINE in row)
        assert "⚠" not in styled
        assert "\x1b[38;5;220m" not in styled  # the colour of a warning


def test_the_line_is_drawn_once(house: Lab, messages: Messages) -> None:
    """Beside a status line command of ours the mod draws nothing, and its heartbeats go on."""
    command = shlex.join([sys.executable, "-m", "brief", "statusline"])
    settle_in(house, house.repo, statusLine={"type": "command", "command": command})
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        beat_on(session, 3)
        assert session.screen().count(LINE) == 1


def test_a_refresh_starts_no_process(house: Lab, messages: Messages, tmp_path: Path) -> None:
    """Over ten heartbeats the client starts no program at all, counted by the kernel."""
    write_policy(house, "version: 1\n")  # no wakes, so that heartbeats are all that happens
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        beat_on(session, 3)
        traced = tmp_path / "traced"
        argv = ["strace", "-f", "-qq", "-e", "trace=execve,execveat", "-o", str(traced), "-p", str(session.pid)]
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as strace:
            beat_on(session, 10)
            strace.send_signal(signal.SIGINT)
            strace.wait()
        assert "exec" not in traced.read_text()


def test_clear_goes_on(house: Lab, messages: Messages) -> None:
    """After `/clear` the old episode is closed, the new one open, the line drawn, and the new session woken."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        before = _open(house)
        session.say("/clear")
        until(lambda: len(after := _open(house)) == 1 and after != before, 30)
        session.shows(LINE)
        count = len(messages.wakes)
        until(lambda: len(messages.wakes) > count, 40)


def _open(house: Lab) -> list[str]:
    told = house.majordomus("episode", "list").stdout
    return re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", told)


def test_a_server_that_was_killed_comes_back(house: Lab, messages: Messages) -> None:
    """Killed, the server is said to be gone with the last line and its age, and is started again by the mod."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        before = lease(house)["epoch"]
        os.kill(lease(house)["pid"], signal.SIGKILL)
        until(lambda: lease(house)["epoch"] != before, 60)
        until(lambda: "no server" not in session.screen() and LINE in session.screen(), 60)


def test_no_server_is_told(house: Lab, messages: Messages) -> None:
    """Where the switch is not true no server is started, and the last line stands with its age."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        write_policy(house, "session:\n  brief_on_interval: false\n")
        os.kill(lease(house)["pid"], signal.SIGKILL)
        session.shows("no server, as of")
        assert LINE in session.screen()
        started = [line for line in session.log.read_text().splitlines() if "process.run" in line]
        assert all("/bin/sh" in line for line in started)  # whose the lease is, and no server


def test_a_lock_in_the_other_worktree_appears(house: Lab, messages: Messages, other: Path) -> None:
    """A lock that is placed in another worktree is in the line with the next heartbeat, and in the wake."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        place_lock(house, other)
        session.shows("alerts 1")
        count = len(messages.wakes)
        until(lambda: len(messages.wakes) > count + 1, 60)
        assert "koda" in messages.wakes[-1]


def test_brief_is_printed_without_a_turn(house: Lab, messages: Messages) -> None:
    """`/brief` prints the brief, `/brief pause` keeps wakes away until `/brief resume`, and the model is asked nothing."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        session.say("/brief pause")
        session.shows("paused:")
        count = len(messages.bodies)
        session.say("/brief")
        session.shows("derive")
        session.shows("integration")
        assert len(messages.bodies) == count
        assert "paused" in house.majordomus("wake", "list").stdout
        beat_on(session, 20)
        assert len(messages.bodies) == count
        session.say("/brief resume")
        until(lambda: messages.wakes, 40)


def test_silent_without_a_policy(house: Lab, messages: Messages) -> None:
    """In a repository without a policy the mod draws nothing, asks nothing and starts nothing."""
    (house.repo / ".ai/repo/policy.yaml").unlink()
    with Session(house, messages, house.repo) as session:
        session.shows("auto mode on")
        session.say("hello")
        session.shows("Understood")
        log = session.log.read_text()
        assert "majordomus-brief@skills-dir loaded" in log
        assert "$.http.fetch (majordomus-brief)" not in log
        assert "$.process.run (majordomus-brief)" not in log
