"""What cannot be read in a git folder is reported, and never taken for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from brief.core.model.errors import GitError, RepositoryError
from brief.fastpath.locate import locate
from brief.git.branches import base_branch
from brief.git.place import primary_root
from brief.git.worktree_cache import WorktreeCache
from brief.git.worktrees import entry_names
from sandbox import Lab


def _unlistable(lab: Lab) -> Path:
    """A repository whose folder of worktree entries cannot be listed, not even by root."""
    lab.commit()
    folder = lab.repo / ".git/worktrees"
    folder.symlink_to("worktrees")
    return folder


def test_entries_that_cannot_be_listed_are_no_empty_list(lab: Lab) -> None:
    """An unlistable folder does not mean that there is no linked work tree; a missing one does."""
    folder = _unlistable(lab)
    with pytest.raises(GitError, match="worktrees cannot be listed"):
        entry_names(lab.common_dir)
    with pytest.raises(GitError, match="worktrees cannot be listed"):
        WorktreeCache(lab.common_dir).read()
    folder.unlink()
    assert entry_names(lab.common_dir) == ()
    assert len(WorktreeCache(lab.common_dir).read()) == 1


def test_a_cache_that_cannot_tell_asks_anew(lab: Lab) -> None:
    """An earlier listing is not repeated while the entries cannot be listed, and works again afterwards."""
    lab.commit()
    cache = WorktreeCache(lab.common_dir)
    assert len(cache.read()) == 1
    folder = _unlistable(lab)
    with pytest.raises(GitError, match="cannot be listed"):
        cache.read()
    folder.unlink()
    assert len(cache.read()) == 1


def test_a_broken_main_is_not_passed_over_for_master(lab: Lab) -> None:
    """If the base cannot be read, it is unknown, with its name; another one counts only if the policy names it."""
    lab.commit()
    lab.git("branch", "master")
    (lab.repo / ".git/refs/heads/main").write_text("no commit\n")
    with pytest.raises(GitError, match="git cannot read refs/heads/main"):
        base_branch(lab.common_dir, None)
    with pytest.raises(GitError, match="git cannot read refs/heads/main"):
        base_branch(lab.common_dir, "main")
    assert base_branch(lab.common_dir, "master") == "refs/heads/master"


def test_a_broken_master_beside_a_whole_main(lab: Lab) -> None:
    """Candidates after the one that was found do not matter."""
    lab.commit()
    (lab.repo / ".git/refs/heads/master").write_text("no commit\n")
    assert base_branch(lab.common_dir, None) == "refs/heads/main"


def test_a_configuration_that_cannot_be_read(lab: Lab) -> None:
    """The primary checkout of a separate git folder is not guessed."""
    lab.commit()
    away = lab.base / "away"
    lab.git("clone", "-q", "--separate-git-dir", str(away), str(lab.repo), str(lab.base / "tree"))
    lab.git("config", "core.worktree", str(lab.base / "tree"), cwd=lab.base / "tree")
    lab.git("worktree", "add", "-q", str(lab.base / "linked"), cwd=lab.base / "tree")
    here = locate(str(lab.base / "linked"))
    assert primary_root(here) == str(lab.base / "tree")
    (away / "config").unlink()
    (away / "config").symlink_to("config")
    with pytest.raises(RepositoryError, match="config cannot be read"):
        primary_root(here)
