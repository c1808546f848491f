from __future__ import annotations

from pathlib import Path

import pytest

from brief.fastpath.known import ABSENT, Known, Unknown
from brief.git.checkout_presence import find_checkout
from sandbox import Lab


@pytest.fixture
def repo(lab: Lab) -> Lab:
    """A repository with one commit."""
    lab.commit()
    return lab


@pytest.fixture
def linked(repo: Lab) -> Path:
    """A linked work tree."""
    return repo.worktree("linked")


def test_folder_that_is_there(repo: Lab, linked: Path) -> None:
    """A folder that is there is no checkout that is gone, whatever git says of it."""
    repo.git("config", "core.bare", "true")
    assert find_checkout(repo.common_dir, str(repo.repo)) == Known(str(repo.repo))
    assert find_checkout(repo.common_dir, str(linked)) == Known(str(linked))


def test_folder_that_is_away(repo: Lab, linked: Path) -> None:
    """A work tree whose folder was moved away is known to git until it is pruned."""
    linked.rename(repo.base / "elsewhere")
    assert find_checkout(repo.common_dir, str(linked)) == Known(f"{repo.common_dir}/worktrees/linked")
    repo.git("worktree", "prune")
    assert find_checkout(repo.common_dir, str(linked)) is ABSENT


def test_paths_relative_to_the_entry(repo: Lab, linked: Path) -> None:
    """Git may write the place of a work tree relative to its entry (worktree.useRelativePaths)."""
    Path(f"{repo.common_dir}/worktrees/linked/gitdir").write_text("../../../../linked/.git\n")
    linked.rename(repo.base / "elsewhere")
    assert isinstance(find_checkout(repo.common_dir, str(linked)), Known)


def test_removed(repo: Lab, linked: Path) -> None:
    """A work tree that was removed is gone, also the last one, with which git removes the folder of all entries."""
    repo.git("worktree", "remove", str(linked))
    assert find_checkout(repo.common_dir, str(linked)) is ABSENT


def test_repository_that_is_away(repo: Lab, linked: Path) -> None:
    """Where the git folder itself is not there, nothing is known of its checkouts."""
    linked.rename(repo.base / "elsewhere")
    repo.repo.rename(repo.base / "moved")
    assert isinstance(find_checkout(repo.common_dir, str(linked)), Unknown)


def test_name_that_is_spelled_out(repo: Lab) -> None:
    """A name with bytes that are no UTF-8 cannot be looked for as it travels."""
    assert isinstance(find_checkout(repo.common_dir, f"{repo.base}/a\\xff"), Unknown)
