"""The checkouts of a repository, as git lists them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from brief.core.model.errors import GitError
from brief.fastpath.locate import read_small
from brief.git.command import run, seat
from brief.git.names import HEADS


@dataclass(frozen=True, slots=True)
class Checkout:
    """One work tree. Names are kept by `os.fsdecode`; a checkout is known by its `git_dir`, its `root` may be gone.

    `branch` is the name without `refs/heads/`, also of a branch that has no commit yet; `head` is a full object name,
    None before the first commit and where git cannot read it, which `git/head.py` tells apart; `locked` and `prunable` are reasons, empty where git knows none, else None.
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


def worktrees(common_dir: str, deadline_s: float = 5.0) -> tuple[Checkout, ...]:
    """Every checkout of the repository, the primary one first; raises GitError."""
    listed = run(["worktree", "list", "--porcelain", "-z"], seat(common_dir), deadline_s=deadline_s)
    git_dirs = _git_dirs(common_dir)
    blocks = [_attributes(block) for block in listed.split(b"\0\0") if block]
    if not blocks:
        raise GitError(f"git lists no work tree at all for {common_dir}")
    primary = _primary(blocks[0], common_dir, deadline_s)
    return (primary, *(_linked(block, git_dirs) for block in blocks[1:]))


def _attributes(block: bytes) -> dict[str, str]:
    """The lines `NAME VALUE` of one block, in git's words."""
    pairs = (line.partition(b" ") for line in block.split(b"\0") if line)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def _primary(told: dict[str, str], common_dir: str, deadline_s: float) -> Checkout:
    root = told["worktree"]
    if "bare" not in told and os.path.realpath(root) == common_dir:
        root = _elsewhere(common_dir, deadline_s)
    return _checkout(told, root, common_dir, primary=True)


def _elsewhere(common_dir: str, deadline_s: float) -> str:
    """The work tree of a git folder kept away from it: git knows it for a submodule, else lists the git folder."""
    try:
        told = run(["rev-parse", "--show-toplevel"], common_dir, deadline_s=deadline_s)
    except GitError:
        return common_dir
    return os.fsdecode(told.removesuffix(b"\n"))


def _linked(told: dict[str, str], git_dirs: dict[str, str]) -> Checkout:
    root = told["worktree"]
    return _checkout(told, root, git_dirs.get(os.path.realpath(root), ""), primary=False)


def _checkout(told: dict[str, str], root: str, git_dir: str, *, primary: bool) -> Checkout:
    head = told.get("HEAD", "").strip("0")
    branch = told.get("branch")
    return Checkout(
        root=root,
        git_dir=git_dir,
        branch=branch.removeprefix(HEADS) if branch is not None else None,
        head=told["HEAD"] if head else None,
        detached="detached" in told,
        bare="bare" in told,
        locked=told.get("locked"),
        prunable=told.get("prunable"),
        gone=not os.path.isdir(root),
        primary=primary,
    )


def _git_dirs(common_dir: str) -> dict[str, str]:
    """The git folder of each linked work tree, by the real path of its root."""
    folder = f"{common_dir}/worktrees"
    try:
        names = os.listdir(folder)
    except OSError:
        return {}
    return {
        os.path.realpath(os.path.dirname(os.path.join(folder, name, marker.rstrip("\n")))): f"{folder}/{name}"
        for name in names
        if (marker := read_small(f"{folder}/{name}/gitdir"))
    }
