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
from live_house import place_lock
from messages import HOLD, TOOL, Messages
from sandbox import Lab, until
from serving import lease, write_policy

LINE = "derive free"
"""What the line of a quiet repository ends with."""


def looks(session: Session) -> int:
    """How many looks the mod has made."""
    return session.log.read_text().count("/episodes/heartbeat over")


def look_on(session: Session, count: int) -> None:
    """Wait for so many looks more; at one a second twenty of them are three intervals."""
    seen = looks(session)
    until(lambda: looks(session) >= seen + count, 60)


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
    """Beside a status line command of ours the mod draws nothing, and its looks go on."""
    command = shlex.join([sys.executable, "-m", "brief", "statusline"])
    settle_in(house, house.repo, statusLine={"type": "command", "command": command})
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        look_on(session, 3)
        assert session.screen().count(LINE) == 1


def test_a_refresh_starts_no_process(house: Lab, messages: Messages, tmp_path: Path) -> None:
    """Over ten looks the client starts no program at all, counted by the kernel."""
    write_policy(house, "version: 1\n")  # no wakes, so that looks are all that happens
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        look_on(session, 3)
        traced = tmp_path / "traced"
        argv = ["strace", "-f", "-qq", "-e", "trace=execve,execveat", "-o", str(traced), "-p", str(session.pid)]
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as strace:
            look_on(session, 10)
            strace.send_signal(signal.SIGINT)
            strace.wait()
        assert "exec" not in traced.read_text()


def test_an_idle_session_is_woken_at_each_interval(house: Lab, messages: Messages) -> None:
    """An idle session gets the brief as a prompt of its own, and at the next interval another."""
    with Session(house, messages, house.repo) as session:
        session.shows("Prompt from the majordomus-brief plugin")
        until(lambda: len(messages.wakes) >= 2, 60)
        assert all(LINE in wake or "derive" in wake for wake in messages.wakes)


def test_a_busy_session_is_not_interrupted(house: Lab, messages: Messages) -> None:
    """While a turn runs no prompt is queued behind it; the wake comes when the session is idle again."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        session.say(f"{HOLD} for it")
        until(lambda: any(HOLD in prompt for prompt in messages.prompts), 30)
        count = len(messages.wakes)
        look_on(session, 20)
        assert "Prompt from the majordomus-brief plugin" not in session.screen().rpartition(HOLD)[2]
        assert len(messages.wakes) == count
        messages.release()
        until(lambda: len(messages.wakes) > count, 40)


def test_a_draft_holds_the_wake(house: Lab, messages: Messages) -> None:
    """While something stands in the box nothing is submitted; once it is empty the wake comes."""
    with Session(house, messages, house.repo) as session:
        session.draft("half a thought")
        session.shows(LINE)
        look_on(session, 20)
        assert messages.prompts == []
        session.press("C-u")
        until(lambda: messages.wakes, 40)


def test_the_first_prompt_of_a_person_carries_the_brief(house: Lab, messages: Messages, other: Path) -> None:
    """The first prompt carries the brief, the next one of the same interval the alerts alone."""
    place_lock(house, other)
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        session.say("first")
        until(lambda: any(prompt.endswith("first") for prompt in messages.prompts), 30)
        session.shows("Understood")
        session.say("second")
        until(lambda: any(prompt.endswith("second") for prompt in messages.prompts), 30)
        first = next(prompt for prompt in messages.prompts if prompt.endswith("first"))
        second = next(prompt for prompt in messages.prompts if prompt.endswith("second"))
        assert "koda" in first
        assert "peers" in first
        assert "koda" in second
        assert "derive" not in second


def test_a_prompt_after_the_interval_carries_the_brief(house: Lab, messages: Messages) -> None:
    """A draft that is sent after the interval carries the brief, and with it the wake that waited is gone."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        session.say("first")
        session.shows("Understood")
        session.draft("second")
        look_on(session, 20)
        assert messages.wakes == []
        session.send("second")
        until(lambda: any(prompt.endswith("second") for prompt in messages.prompts), 30)
        assert "derive" in next(prompt for prompt in messages.prompts if prompt.endswith("second"))
        until(lambda: '"injected"' in _ledger(house), 30)
        assert "withdrawn: the brief came otherwise" in _ledger(house)


def test_a_question_is_not_interrupted(house: Lab, messages: Messages) -> None:
    """While a permission is asked for, the session is `waiting` and gets no prompt; once it is given, wakes go on."""
    settle_in(house, house.repo, permissions={"defaultMode": "default"})
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        session.say(f"{TOOL} it")
        session.shows("Do you want to")
        until(lambda: "waiting" in house.majordomus("episode", "list").stdout, 30)
        count = len(messages.bodies)
        look_on(session, 20)
        assert len(messages.bodies) == count
        session.press("Enter")
        until((house.repo / "touched").exists, 30)
        until(lambda: messages.wakes, 40)


def test_esc_drops_the_wake(house: Lab, messages: Messages) -> None:
    """After Esc nothing is submitted until the person types; then the wakes go on."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        session.say(f"{HOLD} for it")
        until(lambda: any(HOLD in prompt for prompt in messages.prompts), 30)
        session.press("Escape")
        session.in_box(HOLD)
        session.press("C-u")
        count = len(messages.wakes)
        until(lambda: '"dropped"' in _ledger(house), 40)
        assert len(messages.wakes) == count
        session.say("go on")
        until(lambda: len(messages.wakes) > count, 40)


def _ledger(house: Lab) -> str:
    return house.majordomus("wake", "list", "--counts", "--format", "json").stdout


def test_clear_goes_on(house: Lab, messages: Messages) -> None:
    """After `/clear` the old episode is closed, the new one open, the line drawn, and the new session woken."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        before = _open(house)
        session.say("/clear")
        until(lambda: _open(house) and _open(house) != before, 30)
        assert len(_open(house)) == 1
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
        assert "process.run" not in session.log.read_text()


def test_a_lock_in_the_other_worktree_appears(house: Lab, messages: Messages, other: Path) -> None:
    """A lock that is placed in another worktree is in the line with the next look, and in the wake."""
    with Session(house, messages, house.repo) as session:
        session.shows(LINE)
        place_lock(house, other)
        session.shows("alerts 1")
        count = len(messages.wakes)
        until(lambda: len(messages.wakes) > count + 1, 60)
        assert "koda" in messages.wakes[-1]


def test_switched_off_nothing_is_submitted(house: Lab, messages: Messages) -> None:
    """Once the policy is switched off the session is woken no more, and the line goes on."""
    with Session(house, messages, house.repo) as session:
        until(lambda: messages.wakes, 40)
        write_policy(house, "session:\n  brief_on_interval: false\n")
        look_on(session, 2)
        count = len(messages.wakes)
        look_on(session, 20)
        assert len(messages.wakes) == count
        assert LINE in session.screen()


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
        look_on(session, 20)
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


def test_the_persons_own_mod_wakes_once_it_is_trusted(house: Lab, messages: Messages, other: Path) -> None:
    """A mod installed for the user serves the other worktree too, draws, and wakes only after `majordomus trust`."""
    house.majordomus("capture", "remove")
    assert "written" in house.majordomus("capture", "install", "--scope", "user").stdout
    with Session(house, messages, other) as session:
        session.shows(LINE)
        look_on(session, 20)
        assert messages.wakes == []
        assert "trusted" in house.majordomus("trust", cwd=other).stdout
        until(lambda: messages.wakes, 40)
