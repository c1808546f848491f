"""The first day of a repository with three worktrees, from no server to a killed one."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from brief.core.model.brief import Brief, PeersSection
from brief.core.model.wire import from_json
from sandbox import Lab, until

ADA = "11111111-1111-4111-8111-111111111111"


@pytest.fixture
def trees(lab: Lab) -> tuple[Path, Path, Path]:
    """Three worktrees beside the primary checkout."""
    lab.commit()
    return lab.worktree("one"), lab.worktree("two"), lab.worktree("three")


def brief(lab: Lab, at: Path) -> Brief:
    """The brief of a checkout."""
    done = lab.majordomus("brief", "--format", "json", cwd=at)
    assert (done.returncode, done.stderr) == (0, "")
    return from_json(Brief, done.stdout)


def peers(lab: Lab, at: Path) -> PeersSection:
    """The peers in the brief of a checkout."""
    found = next(section for section in brief(lab, at).sections if section.name == "peers")
    assert isinstance(found, PeersSection)
    return found


def lease(lab: Lab) -> dict[str, Any]:
    """The content of the lease."""
    found: dict[str, Any] = json.loads((lab.state / "lease.json").read_text())
    return found


def kill(lab: Lab) -> None:
    """Kill the server so that it can do nothing more."""
    os.kill(lease(lab)["pid"], signal.SIGKILL)
    until(lambda: not lab.processes())


def test_no_server(lab: Lab, trees: tuple[Path, Path, Path]) -> None:
    """With no server each checkout's brief is composed by the command itself, says why, and knows of no peers."""
    for at in (lab.repo, *trees):
        got = brief(lab, at)
        assert (got.answered_by.kind, got.repository.root) == ("self", str(at))
        assert got.answered_by.reason == "no server holds this repository; start one with majordomus serve ensure"
        assert "peers" in got.unread
        assert got.line.startswith("peers ?")


def test_episode_is_seen_from_the_next_worktree(lab: Lab, trees: tuple[Path, Path, Path]) -> None:
    """An episode opened in one worktree is in the next one's brief within one call, with its task, as another session's."""
    one, two, _ = trees
    lab.majordomus("episode", "open", "--provider", "claude-code", "--session", ADA, cwd=one)
    lab.majordomus("task", "set", "mend the login", "--session", ADA, cwd=one)
    seen = peers(lab, two)
    assert seen.data is not None
    assert [(peer.episode, peer.task, peer.checkout) for peer in seen.data.peers] == [(ADA, "mend the login", str(one))]
    state = next(section for section in brief(lab, two).sections if section.name == "state")
    assert state.headline == "no episode is open in this checkout"
    assert brief(lab, two).answered_by.kind == "lease-holder"
    own = peers(lab, one)
    assert own.data is not None
    assert own.data.count == 0


def test_worktree_removed_by_hand(lab: Lab, trees: tuple[Path, Path, Path]) -> None:
    """A worktree whose folder is missing is away, its episode is still known, and its neighbours are ready."""
    _, two, three = trees
    lab.majordomus("episode", "open", "--session", ADA, cwd=three)
    shutil.rmtree(three)
    seen = peers(lab, two)
    assert seen.data is not None
    boards = {board.name: (board.condition, board.count) for board in seen.data.boards}
    assert boards == {"repo": ("ready", 0), "one": ("ready", 0), "two": ("ready", 0), "three": ("away", 1)}
    assert (
        "three is away: its folder is missing, and 1 session may still run in it"
        in lab.majordomus("brief", cwd=two).stdout
    )


def test_killed_server(lab: Lab, trees: tuple[Path, Path, Path]) -> None:
    """After kill -9 the next brief says that the server is gone, and never that nobody is here."""
    one, two, _ = trees
    lab.majordomus("episode", "open", "--session", ADA, cwd=one)
    told = lease(lab)
    kill(lab)
    got = brief(lab, two)
    why = f"the server of epoch {told['epoch']} (pid {told['pid']}) is gone and left its lease behind"
    assert got.answered_by.reason == f"{why}; start one with majordomus serve ensure"
    assert peers(lab, two).data is None
    for form in ("text", "line", "prompt"):
        printed = lab.majordomus("brief", "--format", form, cwd=two).stdout
        assert "peers 0" not in printed
        assert "0 peers" not in printed
        assert "0 other sessions" not in printed
    assert lab.majordomus("episode", "list", cwd=two).stderr.startswith("majordomus: episode list unread: the server")


def test_takeover(lab: Lab, trees: tuple[Path, Path, Path]) -> None:
    """The next server takes over with a higher epoch, and the episode is unheard, not lost, until it is heard again."""
    one, two, _ = trees
    lab.majordomus("episode", "open", "--session", ADA, cwd=one)
    lab.majordomus("task", "set", "mend the login", "--session", ADA, cwd=one)
    before = lease(lab)
    kill(lab)
    assert lab.majordomus("serve", "ensure", cwd=two).returncode == 0
    after = lease(lab)
    assert after["epoch"] > before["epoch"]
    assert after["socket"] != before["socket"]
    seen = peers(lab, two)
    assert seen.data is not None
    assert [(peer.episode, peer.liveness, peer.task) for peer in seen.data.peers] == [
        (ADA, "unheard", "mend the login")
    ]
    assert "unheard since the server started" in lab.majordomus("episode", "list").stdout
    lab.majordomus("brief", "--session", ADA, cwd=one)
    heard = peers(lab, two)
    assert heard.data is not None
    assert heard.data.peers[0].liveness == "heard"


def test_git_clean(lab: Lab, trees: tuple[Path, Path, Path]) -> None:
    """`git clean -fdx` removes nothing that is known, and git sees nothing of it."""
    one, two, _ = trees
    lab.majordomus("episode", "open", "--session", ADA, cwd=one)
    pid = lease(lab)["pid"]
    for at in (lab.repo, *trees):
        assert lab.git("status", "--porcelain", "--ignored", cwd=at) == ""
        lab.git("clean", "-fdxq", cwd=at)
    got = peers(lab, two)
    assert got.data is not None
    assert [peer.episode for peer in got.data.peers] == [ADA]
    assert brief(lab, two).answered_by.pid == pid


def test_before_the_first_commit(lab: Lab) -> None:
    """The advice works: commit first, then read the branches. Until then the queue says so, and is never empty."""
    for is_served in (False, True):
        if is_served:
            lab.start_server()
        told = lab.majordomus("queue", "show").stdout
        assert "commit first, since this checkout has no commit yet, and then run majordomus queue refresh" in told
        assert "unread" in told
    refused = lab.majordomus("queue", "refresh")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "has no branch with a commit yet, so nothing waits to be merged; commit first" in refused.stderr
    lab.commit()
    assert lab.majordomus("queue", "show").stdout.endswith(
        "the branches were never read; run majordomus queue refresh\n"
    )
    assert lab.majordomus("queue", "refresh").returncode == 0
