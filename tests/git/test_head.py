"""HEAD read from files: branch and commit, a branch without a commit, or unknown and why."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from brief.fastpath.known import ABSENT, Known, Unknown
from brief.git.head import Head, is_in_tables, listed_head, read_head
from brief.git.worktrees import list_worktrees
from sandbox import Lab

if TYPE_CHECKING:
    from brief.fastpath.known import Reading


def head(lab: Lab, name: str | None = None) -> Reading[Head]:
    """The head of the primary checkout, or of the linked one of that name."""
    return read_head(f"{lab.common_dir}/worktrees/{name}" if name else lab.common_dir, lab.common_dir)


def write(path: Path, content: bytes) -> None:
    """Replace the content of one of git's files."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def test_a_branch_and_its_commit_are_read(lab: Lab) -> None:
    """HEAD is the same as git lists it, loose or packed, in the primary and in a linked checkout."""
    sha = lab.commit()
    lab.worktree("topic")
    for pack in (False, True):
        if pack:
            lab.git("pack-refs", "--all")
        assert head(lab) == Known(Head("main", sha))
        assert head(lab, "topic") == Known(Head("topic", sha))
        assert listed_head(lab.common_dir, list_worktrees(lab.common_dir)) == Known(Head("main", sha))


def test_a_loose_ref_goes_before_a_packed_one(lab: Lab) -> None:
    """A commit made after packing wins over the packed one."""
    lab.commit()
    lab.git("pack-refs", "--all")
    sha = lab.commit("more", b_txt="b")
    assert head(lab) == Known(Head("main", sha))


def test_a_detached_head_has_no_branch(lab: Lab) -> None:
    """A detached HEAD has only a commit."""
    sha = lab.commit()
    lab.git("checkout", "-q", "--detach")
    found = head(lab)
    assert found == Known(Head(None, sha))
    assert isinstance(found, Known)
    assert found.value.detached


def test_a_symbolic_branch_is_followed(lab: Lab) -> None:
    """A symbolic branch has the commit of its target and its own name; a cycle is unknown."""
    sha = lab.commit()
    lab.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    lab.git("symbolic-ref", "HEAD", "refs/heads/alias")
    assert head(lab) == Known(Head("alias", sha))
    write(lab.repo / ".git/refs/heads/main", b"ref: refs/heads/alias\n")
    assert head(lab) == Unknown("leads through more than 5 refs")


def test_a_head_that_is_a_link_names_its_target(lab: Lab) -> None:
    """HEAD may be a link, as git once wrote it and still reads it."""
    sha = lab.commit()
    (lab.repo / ".git/HEAD").unlink()
    (lab.repo / ".git/HEAD").symlink_to("refs/heads/main")
    assert head(lab) == Known(Head("main", sha))


def test_a_branch_without_a_commit_is_told_apart(lab: Lab) -> None:
    """Before the first commit the branch is known and has no commit, even if there is a folder of its name."""
    assert head(lab) == Known(Head("main", None))
    (lab.repo / ".git/refs/heads/main").mkdir()
    assert head(lab) == Known(Head("main", None))


def test_a_branch_below_a_branch_that_is_gone(lab: Lab) -> None:
    """A file in place of a folder of the ref means that the ref does not exist."""
    lab.commit()
    write(lab.repo / ".git/HEAD", b"ref: refs/heads/main/sub\n")
    assert head(lab) == Known(Head("main/sub", None))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"\0" * 32, "names neither a branch nor a commit"),
        (b"0" * 40 + b"\n", "holds only zeroes"),
        (b"ref: refs/heads/a\x1b]0;x\x07\x1b[31mb\n", "names neither a branch nor a commit"),
        (b"ref: refs/heads/a\0b\n", "names neither a branch nor a commit"),
        (b"ref: ../../etc/passwd\n", "names neither a branch nor a commit"),
        (b"ref: refs/heads/../../../x\n", "names neither a branch nor a commit"),
        (b"ref: refs/heads/a b\n", "names neither a branch nor a commit"),
        (b"ref:\n", "names neither a branch nor a commit"),
        (b"deadbeef\n", "names neither a branch nor a commit"),
        (b"x" * 5_000, "has 5,000 bytes, more than the limit of 4,096"),
    ],
)
def test_a_damaged_head_is_unknown(lab: Lab, content: bytes, reason: str) -> None:
    """A HEAD that git would reject is unknown with the reason, and not a branch without a commit."""
    lab.commit()
    write(lab.repo / ".git/HEAD", content)
    assert head(lab) == Unknown(reason)


@pytest.mark.parametrize("content", [b"", b"\0" * 41, b"0" * 40 + b"\n", b"cut"])
def test_a_damaged_branch_is_unknown(lab: Lab, content: bytes) -> None:
    """A ref that lost its content, as after a power cut, is not a branch without a commit."""
    lab.commit()
    write(lab.repo / ".git/refs/heads/main", content)
    found = head(lab)
    assert isinstance(found, Unknown)
    assert "leads to" in found.reason
    assert "refs/heads/main" in found.reason


def test_a_damaged_line_of_packed_refs_is_unknown(lab: Lab) -> None:
    """A branch whose packed line does not name a commit is unknown; without a line it has no commit."""
    lab.commit()
    lab.git("pack-refs", "--all")
    write(lab.repo / ".git/packed-refs", b"zzzz refs/heads/main\n")
    found = head(lab)
    assert isinstance(found, Unknown)
    assert "packed-refs" in found.reason
    write(lab.repo / ".git/packed-refs", b"# pack-refs with: peeled\n" + b"1" * 40 + b" refs/heads/main-2\n")
    assert head(lab) == Known(Head("main", None))


def test_a_name_of_other_bytes_is_kept(lab: Lab) -> None:
    """Branch names are bytes: what is not UTF-8 is kept the way file names are."""
    sha = lab.commit()
    name = os.fsdecode(b"caf\xe9")
    lab.git("checkout", "-q", "-b", name)
    assert head(lab) == Known(Head(name, sha))


def test_refs_in_tables_are_git_s_to_read(lab: Lab) -> None:
    """With a reftable, HEAD names a ref that is in no file: it is unknown, and recognized as such."""
    write(lab.repo / ".git/HEAD", b"ref: refs/heads/.invalid\n")
    assert isinstance(head(lab), Unknown)
    assert is_in_tables(lab.common_dir)


def test_no_head_is_absent(lab: Lab) -> None:
    """HEAD is absent in a git folder without the file, and for a checkout that git does not list."""
    (lab.repo / ".git/HEAD").unlink()
    assert head(lab) == ABSENT
    assert listed_head(lab.common_dir, ()) == ABSENT


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a folder to another user")
def test_a_git_folder_of_another_user_is_not_believed(lab: Lab) -> None:
    """In an unproven git folder HEAD is not read, and the reason says whose folder it is."""
    lab.commit()
    os.chown(lab.common_dir, 54_321, -1)
    found = head(lab)
    assert isinstance(found, Unknown)
    assert "belongs to uid 54321, not to you" in found.reason
