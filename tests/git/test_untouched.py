"""Reading changes nothing, as the kernel's own watch on the git folders shows."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest

from brief.git.branches import base_branch
from brief.git.worktree_cache import WorktreeCache
from brief.git.worktrees import list_worktrees
from brief.integration.survey import observe
from sandbox import Lab
from traces import git_folders, watched


@pytest.fixture
def stale(lab: Lab) -> Lab:
    """A repository whose indexes are out of date, as after any build."""
    lab.commit(a_txt="a", b_txt="b")
    topic = lab.worktree("topic")
    lab.commit(cwd=topic, c_txt="c")
    lab.commit(a_txt="more")
    for tree in (lab.repo, topic):
        for file in tree.glob("*.txt"):
            os.utime(file, (1, 1))
    return lab


def snapshot(lab: Lab) -> dict[str, tuple[int, int, int, bytes]]:
    """Every file of the lab's repository: times, size and content."""
    found = {}
    for path in sorted(lab.base.rglob("*")):
        if path.is_file():
            seen = path.stat()
            found[str(path)] = (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, path.read_bytes())
    return found


def test_the_watch_sees_what_others_do(stale: Lab) -> None:
    """A plain git status on such an index takes its lock, which the watch notices."""
    with watched(*git_folders(stale)) as made:
        stale.git("status")
    assert f"{stale.common_dir}/index.lock" in made


def test_reading_makes_no_file_takes_no_lock_and_writes_no_object(stale: Lab) -> None:
    """All our calls of git leave every file, ref, index and object unchanged."""
    before, objects = snapshot(stale), stale.git("count-objects", "-v")
    with watched(*git_folders(stale)) as made:
        shelf = WorktreeCache(stale.common_dir)
        for _ in range(5):
            shelf.read()
            list_worktrees(stale.common_dir)
            base = base_branch(stale.common_dir, None)
            observe(stale.common_dir, base, datetime(2026, 1, 1, tzinfo=UTC))
    assert made == []
    assert snapshot(stale) == before
    assert stale.git("count-objects", "-v") == objects
