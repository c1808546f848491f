from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from brief.cli.hook import compose_alone
from brief.fastpath.hook import Call
from brief.fastpath.lease import read_lease
from brief.fastpath.locate import locate
from sandbox import Lab, until

ANN, BOB = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
IN_CLAUDE = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": ANN, "CLAUDE_PID": str(os.getpid())}


@pytest.fixture
def two(lab: Lab) -> Lab:
    """A repository with a second work tree named topic, and a lock in it that BOB holds."""
    lab.commit()
    lab.worktree("topic")
    put(lab, "koda", f"kind: lock\ncomponent: koda\nsession_id: {BOB}\n")
    return lab


def put(lab: Lab, slug: str, fields: str) -> None:
    """A notice of the repository."""
    active = lab.state / "notices/active"
    active.mkdir(parents=True, exist_ok=True)
    (active / f"{slug}.md").write_text(f"---\n{fields}---\n# {slug} title\n")


def write_policy(lab: Lab, text: str) -> None:
    """A policy in the primary checkout."""
    path = lab.repo / ".ai/repo/policy.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def read(
    lab: Lab, event: str, session: str = ANN, *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> str:
    """What a session reads at an event in a checkout, through the whole command."""
    told = {"session_id": session, "cwd": str(cwd or lab.repo), "hook_event_name": event, "reason": "logout"}
    done = lab.majordomus("hook", event, stdin=json.dumps(told), cwd=lab.home, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


def episodes(lab: Lab) -> dict[str, Any]:
    """The open episodes by id."""
    told = json.loads(lab.majordomus("episode", "list", "--format", "json").stdout)
    return {one["episode"]["id"]: one["episode"] for one in told["open"]}


def composed(lab: Lab, event: str) -> str:
    """What this very process composes where no server answers, with all the time it needs."""
    call = Call(event, locate(str(lab.repo)), time.monotonic() + 60)
    call.session = ANN
    text, note = compose_alone(call, "nobody holds it")
    note()
    return text


def test_two_worktrees(two: Lab) -> None:
    """A lock of one work tree is read in the other, its owner alive for as long as that session is open."""
    two.start_server()
    topic = two.base / "topic"
    read(two, "SessionStart", BOB, cwd=topic)
    until(lambda: "lock on koda, owner alive: koda title" in read(two, "UserPromptSubmit", env=IN_CLAUDE))
    ours, theirs = episodes(two)[ANN], episodes(two)[BOB]
    assert (ours["provider"], ours["state"], ours["process"]["pid"]) == ("claude-code", "busy", os.getpid())
    assert (theirs["provider"], theirs["state"], theirs["branch"]) == ("unknown", "idle", "topic")
    assert read(two, "Stop") == ""
    until(lambda: episodes(two)[ANN]["state"] == "idle")
    assert read(two, "SessionEnd", BOB, cwd=topic) == ""
    until(lambda: "lock on koda, owner gone: koda title" in read(two, "UserPromptSubmit"))
    until(lambda: "composed by the server" in read(two, "SessionStart"))


def test_no_server(two: Lab) -> None:
    """Without a server a prompt has its alerts, and a start its brief, which says that nobody was asked for peers."""
    put(two, "over", "kind: alert\nexpires: 2020-01-01\n")
    put(two, "tea", "kind: courtesy\n")
    prompt = composed(two, "user-prompt-submit")
    assert "lock on koda, owner unknown: koda title" in prompt
    assert "tea title" in prompt
    assert "over title" not in prompt
    assert (two.state / "notices/archive/over.md").exists()
    start = composed(two, "session-start")
    assert "tea title" not in start
    assert "peers (unread)" in start
    assert "nobody holds it" in start
    assert two.processes() == []


@pytest.mark.parametrize("damage", ["no database", "a folder"])
def test_store_that_is_none(two: Lab, damage: str) -> None:
    """A database that cannot be read hides no lock."""
    path = two.state / "majordomus.db"
    if damage == "a folder":
        path.mkdir()
    else:
        path.write_text(damage)
    assert "koda title" in composed(two, "user-prompt-submit")
    assert "state (unread)" in composed(two, "session-start")


def test_repository_that_nobody_set_up(lab: Lab) -> None:
    """Without policy, notices, server or commit there is a brief to start with, and nothing to a prompt."""
    assert composed(lab, "user-prompt-submit") == ""
    assert "Keep briefed" in composed(lab, "session-start")
    assert not lab.state.exists()


@pytest.mark.parametrize(
    ("policy", "starts"),
    [
        ("version: 1\n", True),
        ("version: 1\nsession:\n  brief_interval_minutes: never\n", True),
        ("version: 1\nsession:\n  ensure_server_on_start: false\n", False),
    ],
)
def test_server_of_a_start(lab: Lab, policy: str, starts: bool) -> None:
    """The start of a session starts the server of a repository whose policy lets it, and does not wait for it."""
    write_policy(lab, policy)
    read(lab, "session-start")
    if not starts:
        assert lab.processes() == []
        return
    until(lambda: lab.majordomus("serve", "status").returncode == 0)
    until(lambda: read(lab, "user-prompt-submit") == "" and ANN in episodes(lab))


def test_prompt_starts_no_server(lab: Lab) -> None:
    """Only the start of a session starts a server."""
    write_policy(lab, "version: 1\n")
    for event in ("user-prompt-submit", "stop", "session-end"):
        read(lab, event)
    assert lab.processes() == []


@pytest.fixture
def stopped(two: Lab) -> Iterator[Lab]:
    """A repository whose server holds it and is stopped."""
    two.start_server()
    pid = read_lease(two.common_dir)["pid"]
    os.kill(pid, signal.SIGSTOP)
    yield two
    os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("event", ["session-start", "user-prompt-submit", "stop", "session-end"])
def test_server_that_never_answers(stopped: Lab, event: str) -> None:
    """A server that holds and is silent keeps no session waiting: what is said is whole, or nothing."""
    for _ in range(2):
        said = read(stopped, event)
        assert said == "" or "koda title" in said


def test_profile_that_echoes(two: Lab) -> None:
    """What a profile prints before us is not ours: our document stands whole behind it."""
    two.start_server()
    script = 'echo "welcome {"; exec "$0" -m brief hook user-prompt-submit'
    argv = ["sh", "-c", script, sys.executable]
    done = subprocess.run(argv, cwd=two.repo, env=two.env, input="{}", capture_output=True, text=True, check=True)
    first, document, end = done.stdout.split("\n")
    assert (first, end) == ("welcome {", "")
    assert "koda title" in json.loads(document)["hookSpecificOutput"]["additionalContext"]


def test_help(lab: Lab) -> None:
    """The help names the events, and is no event."""
    done = lab.majordomus("hook", "--help")
    assert done.returncode == 0
    assert "user-prompt-submit" in done.stdout
    assert " hook " in lab.majordomus("--help").stdout


def test_large_input(two: Lab) -> None:
    """Through the whole command too, input of any size and kind ends with exit code 0 and one document or none."""
    two.start_server()
    for raw in ("", "{", "[]", '{"session_id": 5}', "x" * 100_000, "x" * 10_000_000):
        done = two.majordomus("hook", "user-prompt-submit", stdin=raw)
        assert (done.returncode, done.stderr) == (0, "")
        assert not done.stdout or "koda title" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
