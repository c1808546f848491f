from __future__ import annotations

import os

import pytest

from brief.core.model.errors import GitError, NotFoundError, PolicyError
from brief.git.branches import base_branch
from sandbox import Lab


def cloned(lab: Lab) -> Lab:
    """Give the repository a remote `origin` whose HEAD is its branch main, at the same commit."""
    lab.git("clone", "-q", "--bare", str(lab.repo), str(lab.base / "origin.git"))
    lab.git("remote", "add", "origin", str(lab.base / "origin.git"))
    lab.git("fetch", "-q", "origin")
    lab.git("remote", "set-head", "origin", "main")
    return lab


def test_main_comes_before_master(lab: Lab) -> None:
    """Without a remote the usual names are the base, main first."""
    lab.commit()
    lab.git("branch", "master")
    lab.git("checkout", "-q", "-b", "topic")
    assert base_branch(lab.common_dir, None) == "refs/heads/main"
    lab.git("branch", "-D", "main")
    assert base_branch(lab.common_dir, None) == "refs/heads/master"


@pytest.mark.parametrize("name", ["trunk", "evil-\u202ebase", os.fsdecode(b"caf\xe9")])
def test_else_the_branch_of_the_primary_checkout(lab: Lab, name: str) -> None:
    """With neither, the branch of the primary checkout is the base, whatever its name."""
    lab.commit()
    lab.git("branch", "-m", "main", name)
    lab.worktree("topic")
    assert base_branch(lab.common_dir, None) == f"refs/heads/{name}"


def test_the_branch_of_a_bare_primary_counts_too(lab: Lab) -> None:
    """A bare repository has a HEAD as well."""
    lab.commit()
    lab.git("branch", "-m", "main", "trunk")
    bare = lab.base / "bare.git"
    lab.git("clone", "-q", "--bare", str(lab.repo), str(bare))
    assert base_branch(str(bare), None) == "refs/heads/trunk"


def test_no_base_at_all_is_a_sentence(lab: Lab) -> None:
    """Before the first commit no key would help; on a detached head without main or master, the key to set is named."""
    with pytest.raises(
        NotFoundError, match=r"has no branch with a commit yet, .*; commit first, and then run majordomus queue"
    ):
        base_branch(lab.common_dir, None)
    lab.commit()
    lab.git("branch", "-m", "main", "trunk")
    lab.git("checkout", "-q", "--detach")
    with pytest.raises(NotFoundError, match=r"name one as integration\.base"):
        base_branch(lab.common_dir, None)


def test_of_main_and_its_remote_copy_the_further_one_counts(lab: Lab) -> None:
    """A local main that is behind is not the base; one that is not pushed yet is."""
    lab.commit(a_txt="a")
    lab.commit(a_txt="b")
    cloned(lab)
    assert base_branch(lab.common_dir, None) == "refs/remotes/origin/main"
    lab.git("reset", "-q", "--hard", "HEAD~1")
    assert base_branch(lab.common_dir, None) == "refs/remotes/origin/main"
    lab.git("reset", "-q", "--hard", "origin/main")
    lab.commit(b_txt="b")
    assert base_branch(lab.common_dir, None) == "refs/heads/main"
    lab.git("reset", "-q", "--hard", "HEAD~2")
    lab.commit(c_txt="parted")
    assert base_branch(lab.common_dir, None) == "refs/heads/main"


def test_without_a_local_main_the_remote_one_counts(lab: Lab) -> None:
    """With only topic branches, the remote branch is the base."""
    lab.commit()
    cloned(lab)
    lab.git("checkout", "-q", "-b", "topic")
    lab.git("branch", "-D", "main")
    assert base_branch(lab.common_dir, None) == "refs/remotes/origin/main"


def test_a_remote_head_that_leads_nowhere_is_passed_over(lab: Lab) -> None:
    """An origin/HEAD that names a removed branch does not hide the local branches."""
    lab.commit()
    lab.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
    assert base_branch(lab.common_dir, None) == "refs/heads/main"


@pytest.mark.parametrize(
    ("named", "ref"),
    [
        ("develop", "refs/heads/develop"),
        ("origin/main", "refs/remotes/origin/main"),
        ("refs/heads/develop", "refs/heads/develop"),
        ("caf\udce9", "refs/heads/caf\udce9"),
    ],
)
def test_a_named_base_is_taken_at_its_word(lab: Lab, named: str, ref: str) -> None:
    """Local, remote and full names are accepted, and a tag of the same name is not taken for the branch."""
    lab.commit()
    cloned(lab)
    lab.git("branch", "develop")
    lab.git("tag", "develop")
    lab.git("branch", "caf\udce9")
    assert base_branch(lab.common_dir, named) == ref


@pytest.mark.parametrize(
    "named", ["", "gone", "mai*", "main~0", "--all", "a\0b", "refs/heads/gone", "\x1b[31m", "HEAD"]
)
def test_a_named_base_that_does_not_exist_is_refused_by_name(lab: Lab, named: str) -> None:
    """A misspelt base is never replaced by a guess, and an invalid branch name is refused."""
    lab.commit()
    with pytest.raises(PolicyError, match=r"integration\.base names .* no such branch") as caught:
        base_branch(lab.common_dir, named)
    assert str(caught.value).isprintable()


def test_a_head_that_cannot_be_read_names_no_base(lab: Lab) -> None:
    """Without main and master, and with a damaged HEAD, the base is unknown, not absent."""
    lab.commit()
    lab.git("branch", "-m", "main", "trunk")
    (lab.repo / ".git/refs/heads/trunk").write_bytes(b"\0" * 41)
    with pytest.raises(GitError, match=r"the base is unknown: .* HEAD of .* leads to refs/heads/trunk"):
        base_branch(lab.common_dir, None)
