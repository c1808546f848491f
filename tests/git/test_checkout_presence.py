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
    """A folder that exists is not a gone checkout, whatever git says of it."""
    repo.git("config", "core.bare", "true")
    assert find_checkout(repo.common_dir, str(repo.repo)) == Known(str(repo.repo))
    assert find_checkout(repo.common_dir, str(linked)) == Known(str(linked))


def test_folder_that_is_away(repo: Lab, linked: Path) -> None:
    """Git knows a work tree whose folder was moved until it is pruned."""
    linked.rename(repo.base / "elsewhere")
    assert find_checkout(repo.common_dir, str(linked)) == Known(f"{repo.common_dir}/worktrees/linked")
    repo.git("worktree", "prune")
    assert find_checkout(repo.common_dir, str(linked)) is ABSENT


def test_paths_relative_to_the_entry(repo: Lab, linked: Path) -> None:
    """Git may write the path of a work tree relative to its entry (worktree.useRelativePaths)."""
    Path(f"{repo.common_dir}/worktrees/linked/gitdir").write_text("../../../../linked/.git\n")
    linked.rename(repo.base / "elsewhere")
    assert isinstance(find_checkout(repo.common_dir, str(linked)), Known)


def test_removed(repo: Lab, linked: Path) -> None:
    """A removed work tree is gone, even the last one, with which git removes the folder of entries."""
    repo.git("worktree", "remove", str(linked))
    assert find_checkout(repo.common_dir, str(linked)) is ABSENT


def test_repository_that_is_away(repo: Lab, linked: Path) -> None:
    """If the git folder itself is missing, nothing is known of its checkouts."""
    linked.rename(repo.base / "elsewhere")
    repo.repo.rename(repo.base / "moved")
    assert isinstance(find_checkout(repo.common_dir, str(linked)), Unknown)


def test_name_that_is_spelled_out(repo: Lab) -> None:
    """A name with bytes that are not UTF-8 cannot be looked up in its wire form."""
    assert isinstance(find_checkout(repo.common_dir, f"{repo.base}/a\\xff"), Unknown)
