"""The base: the branch that all others are compared with."""

from __future__ import annotations

import os

from brief.core.model.errors import GitError, NotFoundError, PolicyError
from brief.core.text.sanitize import wire
from brief.fastpath.known import Unknown
from brief.git.command import git_cwd, run
from brief.git.head import read_head
from brief.git.names import HEADS, REMOTES

_ORIGIN_HEAD = f"{REMOTES}origin/HEAD"
_USUAL = ("main", "master")


def base_branch(common_dir: str, named: str | None, deadline_s: float = 5.0) -> str:
    """The full ref name of the base.

    It is the branch `named` by `integration.base`, else the HEAD of the remote `origin`, else `main`, else `master`,
    else the branch of the primary checkout. Of the HEAD of `origin` and the local branch of the same name, the one that
    is ahead is the base; if they have diverged, the local one. Raises PolicyError if `named` does not exist,
    NotFoundError if there is no base, GitError.
    """
    if named is not None:
        return _named(common_dir, named, deadline_s)
    refs = _refs(common_dir, deadline_s, *(HEADS + name for name in _USUAL), _ORIGIN_HEAD)
    if remote := refs.get(_ORIGIN_HEAD):
        return _newer(common_dir, remote, deadline_s)
    for name in _USUAL:
        if HEADS + name in refs:
            return HEADS + name
    return _of_primary(common_dir, deadline_s)


def _named(common_dir: str, named: str, deadline_s: float) -> str:
    wanted = (named,) if named.startswith("refs/") else (HEADS + named, REMOTES + named)
    found = _refs(common_dir, deadline_s, *wanted) if named and "\0" not in named else {}
    for ref in wanted:
        if ref in found:
            return ref
    raise PolicyError(
        f"integration.base names {wire(named)!r}, but this repository has no such branch; "
        "name an existing one in .ai/repo/policy.yaml"
    )


def _newer(common_dir: str, remote: str, deadline_s: float) -> str:
    """The remote branch or the local one of the same name, whichever is ahead; the local one if they have diverged."""
    local = HEADS + remote.removeprefix(f"{REMOTES}origin/")
    found = _refs(common_dir, deadline_s, local, remote)
    if local not in found or remote not in found:
        return next(iter(found), local)
    count = run(
        ["rev-list", "--count", "--max-count=1", local, f"^{remote}", "--"], git_cwd(common_dir), deadline_s=deadline_s
    )
    return remote if count.strip() == b"0" else local


def _of_primary(common_dir: str, deadline_s: float) -> str:
    listed = run(["for-each-ref", "--format=%(HEAD)%(refname)", HEADS], git_cwd(common_dir), deadline_s=deadline_s)
    for line in listed.splitlines():
        if line.startswith(b"*"):
            return os.fsdecode(line[1:])
    head = read_head(common_dir, common_dir)
    if isinstance(head, Unknown):
        raise GitError(
            f"the base is unknown: there is neither main nor master, and HEAD of {wire(common_dir)} {wire(head.reason)}; "
            "fix it, or name a branch as integration.base in .ai/repo/policy.yaml"
        )
    if not listed and not run(["for-each-ref", "--count=1", REMOTES], git_cwd(common_dir), deadline_s=deadline_s):
        raise NotFoundError(
            f"{wire(common_dir)} has no branch with a commit yet, so nothing waits to be merged; commit first, and run "
            "majordomus queue refresh then"
        )
    raise NotFoundError(
        f"{wire(common_dir)} has no branch to compare others with: neither main nor master, and its "
        "primary checkout is not on a branch with a commit; name one as integration.base in .ai/repo/policy.yaml"
    )


def _refs(common_dir: str, deadline_s: float, *wanted: str) -> dict[str, str]:
    """The wanted refs that exist, by full name, each with the ref that it points to, or ""."""
    listed = run(
        ["for-each-ref", "--format=%(refname)%00%(symref)", *wanted], git_cwd(common_dir), deadline_s=deadline_s
    )
    pairs = (os.fsdecode(line).partition("\0") for line in listed.splitlines())
    return {ref: target for ref, _, target in pairs if ref in wanted}
