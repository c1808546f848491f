from __future__ import annotations

import pytest

from brief.fastpath.known import ABSENT, Known, Unknown
from brief.git.command import GitTimeoutError
from brief.git.roots import root_commits
from neighbourhood import git_hangs
from sandbox import Lab


def test_a_clone_has_the_roots_of_its_original(lab: Lab) -> None:
    """The first commit is the root, in the original and in every clone, even bare, whatever came after it."""
    first = lab.commit(at=1)
    lab.git("clone", "-q", str(lab.repo), str(lab.base / "other"))
    lab.git("clone", "-q", "--bare", str(lab.repo), str(lab.base / "bare.git"))
    lab.commit(at=2)
    for common_dir in (lab.common_dir, f"{lab.base}/other/.git", f"{lab.base}/bare.git"):
        assert root_commits(common_dir, 5.0) == Known(frozenset({first}))


def test_a_merged_history_brings_its_root_along(lab: Lab) -> None:
    """A repository has as many roots as histories were merged into it."""
    first = lab.commit(at=1)
    lab.git("checkout", "-q", "--orphan", "side")
    second = lab.commit("side", at=2)
    lab.git("checkout", "-q", "main")
    assert root_commits(lab.common_dir, 5.0) == Known(frozenset({first}))
    lab.git("merge", "-q", "--allow-unrelated-histories", "-m", "both", "side")
    assert root_commits(lab.common_dir, 5.0) == Known(frozenset({first, second}))


def test_before_the_first_commit_there_is_no_root(lab: Lab) -> None:
    """An unborn branch is not an error."""
    assert root_commits(lab.common_dir, 5.0) == ABSENT


def test_a_long_history_is_not_waited_for(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that does not finish before the deadline raises GitTimeoutError."""
    git_hangs(lab, monkeypatch)
    with pytest.raises(GitTimeoutError, match=r"git rev-list in .* gave no answer within 0.05 s"):
        root_commits(lab.common_dir, 0.05)


def test_no_repository_is_told(lab: Lab) -> None:
    """A folder that is not a repository, or whose branch is damaged, is unknown, not an empty history."""
    assert isinstance(root_commits(str(lab.home), 5.0), Unknown)
    lab.commit()
    (lab.repo / ".git/refs/heads/main").write_bytes(b"\0" * 41)
    assert isinstance(root_commits(lab.common_dir, 5.0), Unknown)
