from __future__ import annotations

import contextlib
import os
import subprocess

import pytest

from brief.fastpath.ask import ask
from sandbox import Lab
from traces import bait, make_stale, traces

pytestmark = pytest.mark.slow

NOTICE = "---\nkind: alert\ntitle: One\n---\nText.\n"


@pytest.fixture
def baited(lab: Lab) -> Lab:
    """A repository with an index, a worktree and a notice, in which whoever fetches is caught."""
    (lab.repo / "file-0.txt").write_text("begin\n")
    lab.commit()
    lab.worktree("other")
    notices = lab.state / "notices/active"
    notices.mkdir(parents=True)
    (notices / "one.md").write_text(NOTICE)
    bait(lab)
    return lab


def composed_at(lab: Lab) -> str:
    """When the brief was composed that a server gives after a notice was touched."""
    os.utime(lab.state / "notices/active/one.md")
    answer = ask(lab.common_dir, "GET", "/brief", [("root", str(lab.repo))], seconds=30)
    assert answer.status == 200, answer.body
    return str(answer.json()["generated_at"])


def test_the_watch_sees_what_git_leaves(baited: Lab) -> None:
    """Plain git is caught taking the index lock, writing an object, and calling the remote."""
    make_stale(baited, 0)
    with traces(baited) as left:
        baited.git("status")
        baited.git("hash-object", "-w", "file-0.txt")
        with contextlib.suppress(subprocess.CalledProcessError):
            baited.git("fetch")
    assert "index.lock" in left
    assert any(path.startswith("objects/") for path in left)
    assert "called: fetch" in left


def test_refreshes_by_a_server_leave_nothing(baited: Lab) -> None:
    """1,000 refreshes on an index with stale stat data, each composed anew: no git lock, no object, no fetch."""
    baited.start_server()
    objects, composed = baited.git("count-objects", "-v"), set()
    with traces(baited) as left:
        for number in range(1_000):
            make_stale(baited, number)
            composed.add(composed_at(baited))
    assert left == []
    assert baited.git("count-objects", "-v") == objects
    assert len(composed) == 1_000


def test_refreshes_by_commands_leave_nothing(baited: Lab) -> None:
    """20 briefs that commands compose for themselves, with no server, leave nothing either."""
    objects = baited.git("count-objects", "-v")
    with traces(baited) as left:
        for number in range(20):
            make_stale(baited, number)
            assert baited.majordomus("brief").returncode == 0
    assert left == []
    assert baited.git("count-objects", "-v") == objects
