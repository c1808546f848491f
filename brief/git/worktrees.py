"""The checkouts of a repository, as git lists them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from brief.core.model.errors import GitError
from brief.core.text.sanitize import to_wire
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.git.command import git_cwd, run
from brief.git.names import HEADS
from brief.support.files import reason_of

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

_MOST = 65_536


class Checkout(Struct, frozen=True):
    """One work tree, identified by its `git_dir`; its `root` may be gone. Names are decoded with `os.fsdecode`.

    `branch` is the name without `refs/heads/`, also of a branch without a commit. `head` is a full object name, None
    before the first commit and if git cannot read it, which `git/head.py` distinguishes. `locked` and `prunable` are
    reasons, "" if git gives none, None if the checkout is not locked or not prunable.
    """

    root: str
    git_dir: str
    branch: str | None
    head: str | None
    detached: bool
    bare: bool
    locked: str | None
    prunable: str | None
    gone: bool
    primary: bool


def list_worktrees(common_dir: str, deadline_s: float = 5.0) -> tuple[Checkout, ...]:
    """List every checkout of the repository, the primary one first. Raises GitError."""
    listed = run(["worktree", "list", "--porcelain", "-z"], git_cwd(common_dir), deadline_s=deadline_s)
    git_dirs = _git_dirs(common_dir)
    blocks = [_parse_block(block) for block in listed.split(b"\0\0") if block]
    if not blocks:
        raise GitError(f"git lists no work trees for {common_dir}")
    primary = _make_primary(blocks[0], common_dir, deadline_s)
    return (primary, *(_make_linked(block, git_dirs) for block in blocks[1:]))


def _parse_block(block: bytes) -> dict[str, str]:
    """The attributes of one block of `NAME VALUE` lines."""
    pairs = (line.partition(b" ") for line in block.split(b"\0") if line)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def _make_primary(block: dict[str, str], common_dir: str, deadline_s: float) -> Checkout:
    root = block["worktree"]
    if "bare" not in block and os.path.realpath(root) == common_dir:
        root = _separate_root(common_dir, deadline_s)
    return _make_checkout(block, root, common_dir, primary=True)


def _separate_root(common_dir: str, deadline_s: float) -> str:
    """The work tree of a git folder that lies outside of it, as with a submodule. The git folder if git knows none."""
    try:
        printed = run(["rev-parse", "--show-toplevel"], common_dir, deadline_s=deadline_s)
    except GitError:
        return common_dir
    return os.fsdecode(printed.removesuffix(b"\n"))


def _make_linked(block: dict[str, str], git_dirs: dict[str, str]) -> Checkout:
    root = block["worktree"]
    return _make_checkout(block, root, git_dirs.get(os.path.realpath(root), ""), primary=False)


def _make_checkout(block: dict[str, str], root: str, git_dir: str, *, primary: bool) -> Checkout:
    head = block.get("HEAD", "").strip("0")
    branch = block.get("branch")
    return Checkout(
        root=root,
        git_dir=git_dir,
        branch=branch.removeprefix(HEADS) if branch is not None else None,
        head=block["HEAD"] if head else None,
        detached="detached" in block,
        bare="bare" in block,
        locked=block.get("locked"),
        prunable=block.get("prunable"),
        gone=not os.path.isdir(root),
        primary=primary,
    )


def _git_dirs(common_dir: str) -> dict[str, str]:
    """The git folder of each linked work tree, by the real path of its root. Raises GitError.

    Like git, this skips an entry whose root cannot be read; `git/worktree_entries.py` finds those.
    """
    folder = f"{common_dir}/worktrees"
    roots = ((entry_root(f"{folder}/{name}"), f"{folder}/{name}") for name in entry_names(common_dir))
    return {root.value: git_dir for root, git_dir in roots if isinstance(root, Known)}


def entry_names(common_dir: str) -> tuple[str, ...]:
    """The names below `worktrees/` of the git folder, sorted. Empty if there is no such folder. Raises GitError."""
    folder = f"{common_dir}/worktrees"
    try:
        return tuple(sorted(os.listdir(folder)))
    except FileNotFoundError:
        return ()
    except OSError as fault:
        raise GitError(f"{to_wire(folder)} cannot be listed: {fault.strerror}") from fault


def entry_root(git_dir: str) -> Reading[str]:
    """The real path of an entry's work tree, from the file `gitdir`."""
    marker = read_text(f"{git_dir}/gitdir")
    if not isinstance(marker, Known):
        return marker
    named = marker.value.rstrip("\n")
    return Known(os.path.realpath(os.path.dirname(os.path.join(git_dir, named)))) if named else ABSENT


def read_text(path: str) -> Reading[str]:
    """The text of a small file of git, decoded like a file name. Follows links."""
    try:
        with open(path, "rb", opener=_open_nonblocking) as file:
            return Known(os.fsdecode(file.read(_MOST)))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except (OSError, ValueError) as fault:
        return Unknown(f"{to_wire(path)} cannot be read: {reason_of(fault)}")


def _open_nonblocking(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
