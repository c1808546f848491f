"""What a server of another user may say to whoever works in a folder: nothing."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hostile import needs_root
from impostor import answer, listening, saying, write_lease
from planted import MARK, give_away, planted_server
from sandbox import Lab
from serving import write_policy

pytestmark = needs_root

SESSION = "11111111-1111-4111-8111-111111111111"
WAKING = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "CLAUDE_CODE_SESSION_ATTENDED": "1",
    "CLAUDE_CODE_SESSION_ID": SESSION,
    "CLAUDE_PID": str(os.getpid()),
}
CALLS = [
    ["brief"],
    ["brief", "--line"],
    ["brief", "--format", "prompt"],
    ["brief", "--format", "json"],
    ["statusline"],
    ["hook", "session-start"],
    ["hook", "user-prompt-submit"],
    ["hook", "stop"],
    ["peers", "list"],
    ["alerts", "list"],
    ["task", "set", "x", "--session", SESSION],
    ["serve", "status"],
    ["serve", "stop"],
    ["doctor"],
]


@pytest.fixture
def heard(lab: Lab) -> Iterator[Path]:
    """The calls that a planted server received, in a repository with a policy, so that a hook would start a server."""
    lab.commit()
    write_policy(lab, "version: 1\nsession:\n  brief_on_interval: true\n")
    with planted_server(lab) as file:
        yield file


def said(lab: Lab, words: list[str], cwd: Path) -> str:
    """All that a call prints."""
    given = {"session_id": SESSION, "cwd": str(cwd), "workspace": {"current_dir": str(cwd)}, "source": "startup"}
    done = lab.majordomus(*words, cwd=cwd, stdin=json.dumps(given))
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_a_repository_of_another_user(lab: Lab, heard: Path, words: list[str]) -> None:
    """Its lease names its own server: not a word goes there, none comes back, and no server is started in it."""
    give_away(lab.repo)
    below = lab.repo / "below"
    below.mkdir()
    assert MARK not in said(lab, words, below)
    assert not heard.exists()
    assert lab.processes() == []


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_our_repository_with_a_lease_of_another(lab: Lab, heard: Path, words: list[str]) -> None:
    """A lease of ours that names a socket of another user is not followed."""
    assert MARK not in said(lab, words, lab.repo)
    assert not heard.exists()


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_our_repository_with_a_lease_from_an_archive(lab: Lab, words: list[str]) -> None:
    """A lease that was unpacked is our own, and may name an agent of ours: it is neither asked nor believed."""
    lab.commit()
    agent = lab.runtime / "agent.sock"
    write_lease(lab.common_dir, agent)
    with listening(
        agent, saying(answer(json.dumps({"context": MARK, "lease": "holds", "pid": 1}).encode()))
    ) as requests:
        assert MARK not in said(lab, words, lab.repo)
    assert requests == []


def test_the_process_that_waits(lab: Lab, heard: Path) -> None:
    """A planted server wakes nobody: in a repository of another user the waiting process ends at once."""
    give_away(lab.repo)
    done = lab.majordomus("hook", "wake", stdin=json.dumps({"session_id": SESSION, "cwd": str(lab.repo)}), env=WAKING)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not heard.exists()


def test_ensure_in_a_repository_of_another_user(lab: Lab, heard: Path) -> None:
    """No server is held there, and the sentence says whose it is and how to accept it."""
    give_away(lab.repo)
    done = lab.majordomus("serve", "ensure")
    assert done.returncode == 1
    assert "belongs to uid 54321, not to you" in done.stderr
    assert "safe.directory" in done.stderr
    assert lab.processes() == []


def test_a_repository_that_git_accepts(lab: Lab, heard: Path) -> None:
    """With `safe.directory`, as in containers with another user, a state folder of our own serves in every way."""
    shutil.rmtree(lab.state)
    give_away(lab.repo)
    config = lab.home / "gitconfig"
    config.write_text(f"[safe]\n\tdirectory = {lab.repo}\n")
    lab.env["GIT_CONFIG_GLOBAL"] = str(config)
    ensured = lab.majordomus("serve", "ensure")
    assert (ensured.returncode, ensured.stdout[:8]) == (0, "started:"), ensured
    brief = json.loads(lab.majordomus("brief", "--format", "json").stdout)
    assert brief["answered_by"]["kind"] == "lease-holder"
    line = lab.majordomus("brief", "--line").stdout
    assert said(lab, ["statusline"], lab.repo) == line
    assert lab.majordomus("episode", "open", "--session", SESSION).returncode == 0
    assert "majordomus" in said(lab, ["hook", "session-start"], lab.repo)
    lab.majordomus("serve", "stop")
    assert said(lab, ["statusline"], lab.repo).startswith("stopped, as of just now")
