from __future__ import annotations

import os
import shutil

import pytest
from msgspec.structs import replace

from brief.core.model.errors import GitError
from brief.git.worktrees import Checkout, list_worktrees
from sandbox import Lab


def listing(lab: Lab) -> dict[str, Checkout]:
    """The checkouts by the names of their folders."""
    return {os.path.basename(checkout.root): checkout for checkout in list_worktrees(lab.common_dir)}


def test_the_primary_comes_first_then_each_linked_one(lab: Lab) -> None:
    """Roots, git folders, branches and heads are as git reports them."""
    first = lab.commit(a_txt="a")
    topic = lab.worktree("topic", "feature/login")
    second = lab.commit(cwd=topic, b_txt="b")
    own = f"{lab.common_dir}/worktrees/topic"
    primary = Checkout(
        root=str(lab.repo),
        git_dir=lab.common_dir,
        branch="main",
        head=first,
        detached=False,
        bare=False,
        locked=None,
        prunable=None,
        gone=False,
        primary=True,
    )
    linked = replace(primary, root=str(topic), git_dir=own, branch="feature/login", head=second, primary=False)
    assert list_worktrees(lab.common_dir) == (primary, linked)


def test_a_repository_without_a_commit_has_a_branch_and_no_head(lab: Lab) -> None:
    """An unborn branch is not detached."""
    (only,) = list_worktrees(lab.common_dir)
    assert (only.branch, only.head, only.detached) == ("main", None, False)


def test_a_detached_head_has_no_branch(lab: Lab) -> None:
    """A detached HEAD is reported as such."""
    sha = lab.commit()
    lab.git("checkout", "-q", "--detach")
    (only,) = list_worktrees(lab.common_dir)
    assert (only.branch, only.head, only.detached) == (None, sha, True)


def test_a_removed_folder_is_gone_and_prunable(lab: Lab) -> None:
    """A worktree removed by hand is still listed, as gone, with its git folder and git's reason."""
    lab.commit()
    shutil.rmtree(lab.worktree("topic"))
    topic = listing(lab)["topic"]
    assert topic.gone
    assert topic.prunable == "gitdir file points to non-existent location"
    assert topic.git_dir == f"{lab.common_dir}/worktrees/topic"


def test_an_emptied_folder_is_prunable_and_not_gone(lab: Lab) -> None:
    """If only the link to git is missing, the folder is still there."""
    lab.commit()
    (lab.worktree("topic") / ".git").unlink()
    topic = listing(lab)["topic"]
    assert not topic.gone
    assert topic.prunable


def test_a_lock_carries_its_reason(lab: Lab) -> None:
    """Locked with a reason of several lines, locked without one, and not locked are three different answers."""
    lab.commit()
    lab.git("worktree", "lock", "--reason", "on a stick\n\nkeep", str(lab.worktree("one")))
    lab.git("worktree", "lock", str(lab.worktree("two")))
    found = listing(lab)
    assert (found["one"].locked, found["two"].locked, found["repo"].locked) == ("on a stick\n\nkeep", "", None)


@pytest.mark.parametrize("name", ["evil-\u202etopic", os.fsdecode(b"caf\xe9"), "ěščř", "-dash/x", "a'b\"c;$(d)"])
def test_branch_names_are_kept_as_they_are(lab: Lab, name: str) -> None:
    """A branch name is an identity: bidirectional marks and bytes that are not UTF-8 survive."""
    lab.commit()
    lab.git("update-ref", f"refs/heads/{name}", "HEAD")
    lab.git("worktree", "add", "-q", "--detach", str(lab.base / "topic"))
    lab.git("symbolic-ref", "HEAD", f"refs/heads/{name}", cwd=lab.base / "topic")
    assert listing(lab)["topic"].branch == name


@pytest.mark.parametrize("name", ["a b", "ěščř", "a\nb", os.fsdecode(b"caf\xe9")])
def test_folder_names_are_kept_as_they_are(name: str) -> None:
    """A repository and a worktree on any path are listed, and each knows its git folder."""
    with Lab(name) as lab:
        lab.commit()
        lab.git("worktree", "add", "-q", "-b", "topic", str(lab.base / f"{name} tree"))
        primary, topic = list_worktrees(lab.common_dir)
        assert (primary.root, topic.root) == (str(lab.repo), str(lab.base / f"{name} tree"))
        assert os.path.isfile(f"{topic.git_dir}/HEAD")
        assert not topic.gone


def test_a_bare_repository_lists_itself_and_its_worktrees(lab: Lab) -> None:
    """The primary of a bare repository is bare, and has no branch of its own to show."""
    lab.commit()
    bare = lab.base / "bare.git"
    lab.git("clone", "-q", "--bare", str(lab.repo), str(bare))
    lab.git("worktree", "add", "-q", "-b", "topic", str(lab.base / "tree"), cwd=bare)
    primary, topic = list_worktrees(str(bare))
    assert (primary.root, primary.bare, primary.branch, primary.head) == (str(bare), True, None, None)
    assert (topic.root, topic.bare, topic.branch) == (str(lab.base / "tree"), False, "topic")


def test_a_submodule_is_listed_where_its_work_tree_is(lab: Lab) -> None:
    """Git lists a submodule's git folder as its work tree; we report the work tree."""
    lab.commit(a_txt="a")
    lab.git("init", "-q", "-b", "main", str(lab.base / "super"))
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lab.repo), "sub")
    lab.git(*add, cwd=lab.base / "super")
    common = f"{lab.base}/super/.git/modules/sub"
    (only,) = list_worktrees(common)
    assert (only.root, only.git_dir, only.gone) == (f"{lab.base}/super/sub", common, False)


def test_a_git_folder_kept_elsewhere_is_listed_as_git_does(lab: Lab) -> None:
    """If git does not know the work tree of a git folder, the git folder takes its place as root."""
    lab.git("init", "-q", "--separate-git-dir", str(lab.base / "kept"), str(lab.base / "work"))
    (only,) = list_worktrees(f"{lab.base}/kept")
    assert (only.root, only.git_dir, only.bare) == (f"{lab.base}/kept", f"{lab.base}/kept", False)


def test_a_person_who_forbids_bare_repositories_is_answered(lab: Lab) -> None:
    """safe.bareRepository guards against nested bare repositories; a git folder that a checkout names is not one."""
    config = lab.home / ".gitconfig"
    config.write_text("[safe]\n\tbareRepository = explicit\n")
    lab.git("init", "-q", "--separate-git-dir", str(lab.base / "kept"), str(lab.base / "work"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", str(config))
        assert len(list_worktrees(f"{lab.base}/kept")) == 1


def test_what_is_no_repository_is_a_sentence(lab: Lab) -> None:
    """A folder that is not a repository is refused by git, in a sentence."""
    with pytest.raises(GitError, match=r"git worktree failed in .*: not a git repository"):
        list_worktrees(str(lab.base / "home"))
