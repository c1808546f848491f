"""The base: the branch that all others are compared with."""

from __future__ import annotations

import os
from typing import NamedTuple

from brief.core.model.errors import GitError, NotFoundError, PolicyError
from brief.core.policy.names import POLICY_FILE
from brief.core.text.sanitize import to_wire
from brief.fastpath.known import Unknown
from brief.git.command import IGNORED, git_cwd, run, run_with_warnings
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
        return _find_named(common_dir, named, deadline_s)
    usual = [HEADS + name for name in _USUAL]
    refs = _find_refs(common_dir, deadline_s, *usual, _ORIGIN_HEAD)
    found = refs.first(_ORIGIN_HEAD, *usual)
    if found is None:
        return _of_primary(common_dir, deadline_s)
    return _choose_newer(common_dir, refs.targets[found], deadline_s) if found == _ORIGIN_HEAD else found


def refs_meant(named: str) -> tuple[str, ...]:
    """The refs that `integration.base` may mean. The first that exists is the base."""
    return (named,) if named.startswith("refs/") else (HEADS + named, REMOTES + named)


def no_such_base(named: str) -> str:
    """The sentence that `integration.base` names a branch that does not exist, and what to do."""
    return (
        f"integration.base names {to_wire(named)!r}, but this repository has no such branch; "
        f"name an existing one in {POLICY_FILE}"
    )


def _find_named(common_dir: str, named: str, deadline_s: float) -> str:
    wanted = refs_meant(named)
    found = _find_refs(common_dir, deadline_s, *wanted).first(*wanted) if named and "\0" not in named else None
    if found is None:
        raise PolicyError(no_such_base(named))
    return found


def _choose_newer(common_dir: str, remote: str, deadline_s: float) -> str:
    """The remote branch or the local one of the same name, whichever is ahead; the local one if they have diverged."""
    local = HEADS + remote.removeprefix(f"{REMOTES}origin/")
    refs = _find_refs(common_dir, deadline_s, local, remote)
    if local not in refs.targets or remote not in refs.targets:
        return refs.first(remote, local) or local
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
            f"the base is unknown: there is neither main nor master, and HEAD of {to_wire(common_dir)} {to_wire(head.reason)}; "
            "fix it, or name a branch as integration.base in .ai/repo/policy.yaml"
        )
    if not listed and not run(["for-each-ref", "--count=1", REMOTES], git_cwd(common_dir), deadline_s=deadline_s):
        raise NotFoundError(
            f"{to_wire(common_dir)} has no branch with a commit yet, so nothing waits to be merged; commit first, and then "
            "run majordomus queue refresh"
        )
    raise NotFoundError(
        f"{to_wire(common_dir)} has no branch to compare others with: neither main nor master, and its "
        "primary checkout is not on a branch with a commit; name one as integration.base in .ai/repo/policy.yaml"
    )


class _Refs(NamedTuple):
    """`targets` are the refs that exist, by full name, each with the ref that it points to, or "".

    `broken` are the refs that git cannot read.
    """

    targets: dict[str, str]
    broken: frozenset[str]

    def first(self, *wanted: str) -> str | None:
        """The first of these that exists. Raises GitError if git cannot read one before it, which may exist."""
        for ref in wanted:
            if ref in self.broken:
                raise GitError(
                    f"the base is unknown: git cannot read {to_wire(ref)}; repair it with the help of git fsck, or name "
                    f"another branch as integration.base in {POLICY_FILE}"
                )
            if ref in self.targets:
                return ref
        return None


def _find_refs(common_dir: str, deadline_s: float, *wanted: str) -> _Refs:
    """Ask git which of the wanted refs exist."""
    listed, warned = run_with_warnings(
        ["for-each-ref", "--format=%(refname)%00%(symref)", *wanted], git_cwd(common_dir), deadline_s=deadline_s
    )
    pairs = (os.fsdecode(line).partition("\0") for line in listed.splitlines())
    broken = (found[1] for line in warned if (found := IGNORED.fullmatch(line)))
    return _Refs({ref: target for ref, _, target in pairs if ref in wanted}, frozenset(broken))
