from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from brief.core.model.brief import Repository
from brief.core.model.errors import RepositoryError
from brief.core.model.wire import to_json
from brief.git.place import checkout_at, describe_repository, head_of
from brief.git.worktrees import list_worktrees
from sandbox import Lab


def at(path: Path) -> Repository:
    """The brief's description of the checkout that holds a folder."""
    here = checkout_at(str(path))
    return describe_repository(here, head_of(here, lambda: list_worktrees(here.common_dir)))


def test_a_folder_inside_a_worktree_is_that_worktree(lab: Lab) -> None:
    """From anywhere inside a checkout its root is found, and the primary it belongs to."""
    sha = lab.commit()
    topic = lab.worktree("topic")
    (topic / "src/deep").mkdir(parents=True)
    assert at(topic / "src/deep") == at(topic)
    assert at(topic) == Repository(
        root=str(topic),
        common_dir=lab.common_dir,
        primary=str(lab.repo),
        branch="topic",
        head=sha,
        detached=False,
    )


def test_a_submodule_and_a_git_folder_kept_elsewhere_are_placed_by_their_work_trees(lab: Lab) -> None:
    """If git lists the git folder in place of the work tree, we still report the work tree."""
    lab.commit(a_txt="a")
    lab.git("init", "-q", "-b", "main", str(lab.base / "super"))
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lab.repo), "sub")
    lab.git(*add, cwd=lab.base / "super")
    lab.git("init", "-q", "--separate-git-dir", str(lab.base / "kept"), str(lab.base / "work"))
    for root in (lab.base / "super/sub", lab.base / "work"):
        assert (at(root).root, at(root).primary) == (str(root), str(root))


def test_a_worktree_of_a_bare_repository_is_placed(lab: Lab) -> None:
    """The primary of a worktree of a bare repository is the bare repository."""
    lab.commit()
    lab.git("clone", "-q", "--bare", str(lab.repo), str(lab.base / "bare.git"))
    lab.git("worktree", "add", "-q", "-b", "topic", str(lab.base / "tree"), cwd=lab.base / "bare.git")
    assert at(lab.base / "tree").primary == str(lab.base / "bare.git")


def test_names_that_are_not_utf_8_can_go_on_the_wire(lab: Lab) -> None:
    """A branch with other bytes is escaped, and the description can be written as JSON."""
    lab.commit()
    lab.git("checkout", "-q", "-b", os.fsdecode(b"caf\xe9"))
    assert at(lab.repo).branch == "caf\\xe9"
    assert to_json(at(lab.repo))


def test_no_checkout_is_a_sentence(lab: Lab) -> None:
    """Outside any checkout, and inside a bare repository, the sentence says what was found."""
    with pytest.raises(RepositoryError, match="not in a git repository"):
        checkout_at(str(lab.home))
    lab.git("init", "-q", "--bare", str(lab.base / "bare.git"))
    with pytest.raises(RepositoryError, match="bare repository"):
        checkout_at(str(lab.base / "bare.git"))


def test_a_checkout_that_git_lost_is_a_sentence(lab: Lab) -> None:
    """For a worktree that git does not list, the error says how to repair it."""
    lab.commit()
    topic = lab.worktree("topic")
    (lab.repo / ".git/worktrees/topic/gitdir").unlink()
    with pytest.raises(RepositoryError, match=f"does not list {topic} .* git worktree repair"):
        checkout_at(str(topic))
    shutil.rmtree(lab.repo / ".git/worktrees/topic")
    with pytest.raises(RepositoryError, match="git worktree repair"):
        checkout_at(str(topic))
