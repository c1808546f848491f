from __future__ import annotations

import shutil

import pytest

from brief.fastpath.known import ABSENT, Known
from brief.git.worktree_entries import unlisted_entries
from brief.git.worktrees import list_worktrees
from sandbox import Lab


def found(lab: Lab) -> object:
    """The entries that git keeps but does not list."""
    return unlisted_entries(lab.common_dir, list_worktrees(lab.common_dir))


def test_every_entry_that_git_lists_is_none(lab: Lab) -> None:
    """Healthy, gone and copied entries belong to listed checkouts; a file among them is not an entry."""
    lab.commit()
    assert found(lab) is ABSENT
    lab.worktree("topic")
    shutil.rmtree(lab.worktree("gone"))
    entries = lab.repo / ".git/worktrees"
    shutil.copytree(entries / "topic", entries / "copy")
    (entries / "note").touch()
    assert found(lab) == Known(())


@pytest.mark.parametrize("content", ["", "\n", None])
def test_an_entry_that_git_skips_is_named(lab: Lab, content: str | None) -> None:
    """An entry whose link is empty or missing, which git silently skips, is found."""
    lab.commit()
    lab.worktree("topic")
    lab.worktree("fine")
    marker = lab.repo / ".git/worktrees/topic/gitdir"
    marker.unlink() if content is None else marker.write_text(content)
    assert found(lab) == Known(("topic",))
