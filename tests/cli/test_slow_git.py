"""Notices and locks need no git: whatever git does, a session is told of them in time, and nobody of a silent server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandbox import Lab, until

ANN, BOB = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"


@pytest.fixture
def hang(lab: Lab) -> Path:
    """A git on the PATH of every command that hangs for as long as the file exists which is given back."""
    lab.commit()
    flag, program = lab.base / "hang", lab.base / "bin/git"
    real = lab.env["PATH"]
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nwhile [ -e {flag} ]; do sleep 0.05; done\nPATH={real} exec git "$@"\n')
    program.chmod(0o755)
    lab.env["PATH"] = f"{program.parent}:{real}"
    active = lab.state / "notices/active"
    active.mkdir(parents=True)
    (active / "koda.md").write_text(f"---\nkind: lock\ncomponent: koda\nsession_id: {BOB}\n---\n# koda title\n")
    return flag


def served(lab: Lab, flag: Path) -> None:
    """A server that knows the repository, in which then a work tree is made while its git hangs."""
    lab.start_server()
    until(lambda: "peers 0" in lab.majordomus("brief", "--line").stdout)
    lab.worktree("topic")
    flag.touch()


def read(lab: Lab, event: str) -> str:
    """What a session reads at an event."""
    done = lab.majordomus("hook", event, stdin=json.dumps({"session_id": ANN, "cwd": str(lab.repo)}))
    assert (done.returncode, done.stderr) == (0, "")
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


@pytest.mark.parametrize("with_server", [False, True])
def test_a_prompt_has_its_locks(lab: Lab, hang: Path, with_server: bool) -> None:
    """A git that hangs keeps no lock from a prompt, with a server or without one."""
    if with_server:
        served(lab, hang)
    hang.touch()
    try:
        assert "lock on koda" in read(lab, "user-prompt-submit")
        assert "▲1 HIGH lock on koda" in lab.majordomus("brief", "--line").stdout
    finally:
        hang.unlink()


def test_a_server_answers_a_start_in_time(lab: Lab, hang: Path) -> None:
    """It composes the brief within the hook's half second: what needs git is unread with the reason, all else is read."""
    served(lab, hang)
    try:
        told = read(lab, "session-start")
    finally:
        hang.unlink()
    assert "composed by the server" in told
    assert "peers (unread)" in told
    assert "lock on koda" in told
    assert "replaces it" not in told
    until(lambda: "peers (read)" in read(lab, "session-start"))


def test_the_line_says_only_what_git_is_needed_for(lab: Lab, hang: Path) -> None:
    """Alerts are counted, peers are unread with what git did, and the server is not called silent."""
    served(lab, hang)
    try:
        brief = json.loads(lab.majordomus("brief", "--format", "json").stdout)
    finally:
        hang.unlink()
    status = {section["name"]: section["status"] for section in brief["sections"]}
    assert brief["answered_by"]["kind"] == "lease-holder"
    assert (status["alerts"], status["state"], status["peers"]) == ("read", "read", "unread")
    assert "alerts 1" in brief["line"]
    assert "git worktree list has given no answer" in brief["summary"]
    assert brief["repository"]["head"] == lab.git("rev-parse", "HEAD")


def test_no_git_is_left_behind(lab: Lab, hang: Path) -> None:
    """A command that ends while git hangs ends it too, also one that asks whether git keeps a folder of notices."""
    (lab.repo / ".ai/repo").mkdir(parents=True)
    (lab.repo / ".ai/repo/policy.yaml").write_text("version: 1\nalerts:\n  folders: [meta]\n")
    (lab.repo / "meta/active").mkdir(parents=True)
    (lab.repo / "meta/active/over.md").write_text("---\nkind: alert\nexpires: 2020-01-01\n---\n# over\n")
    lab.commit("notices")
    hang.touch()
    try:
        read(lab, "user-prompt-submit")
        lab.majordomus("brief")
        assert not [pid for pid in lab.processes() if b"bin/git" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    finally:
        hang.unlink()
