"""Which local branches hold what the base does not, asked of git alone."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from brief.core.model.brief import QueueEntry
from brief.core.model.errors import NotFoundError
from brief.core.text.sanitize import wire
from brief.git.command import GitTimeoutError, run, seat
from brief.git.names import HEADS, short_name
from brief.git.quarantine import quarantine
from brief.git.worktrees import worktrees
from brief.integration.observation import Observation

MOST_ENTRIES = 200
_FORMAT = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(symref)"


@dataclass(frozen=True, slots=True)
class _Branch:
    name: str
    sha: str
    committed_at: datetime | None


def observe(common_dir: str, base: str, now: datetime, budget_s: float = 20.0) -> Observation:
    """Survey the local branches against `base`, a full ref name; `now` is stamped on the observation.

    The 200 branches with the newest commits are looked at, in that order, for at most `budget_s` seconds; the others
    that are ahead, and those whose commit is missing, are counted as omitted. Raises NotFoundError for a base without
    a commit, GitError.
    """
    end = time.monotonic() + budget_s
    with quarantine(common_dir) as env:
        git = _Git(common_dir, env, end)
        base_sha = _commit_of(git, base)
        lost = _lost(git, base_sha)
        ahead = _ahead(git, base, base_sha)
        entries = tuple(_entries(git, base_sha, ahead[:MOST_ENTRIES]))
    return Observation(
        observed_at=now,
        base=wire(short_name(base)),
        base_sha=base_sha,
        provider="git",
        entries=tuple(sorted(entries, key=_turn)),
        omitted=len(ahead) + lost - len(entries),
    )


@dataclass(frozen=True, slots=True)
class _Git:
    """git in one repository, under one environment, until one moment of the monotonic clock."""

    common_dir: str
    env: Mapping[str, str]
    end: float

    def __call__(self, *args: str) -> bytes:
        return run(args, seat(self.common_dir), deadline_s=self.left, env=self.env)

    @property
    def left(self) -> float:
        return max(0.0, self.end - time.monotonic())


def _commit_of(git: _Git, base: str) -> str:
    found = git("for-each-ref", "--format=%(refname)%00%(objectname)", base)
    names = dict(line.split(b"\0") for line in found.splitlines())
    sha = names.get(os.fsencode(base))
    if sha is None:
        raise NotFoundError(f"the base {wire(short_name(base))!r} has no commit, so nothing can be measured against it")
    return sha.decode()


def _lost(git: _Git, base_sha: str) -> int:
    """How many branches lead to a commit that is missing: git leaves them out on either side without a word."""
    every, held, ahead = (
        set(git("for-each-ref", "--format=%(refname)", *side, HEADS).splitlines())
        for side in ((), (f"--merged={base_sha}",), (f"--no-merged={base_sha}",))
    )
    return len(every - held - ahead)


def _ahead(git: _Git, base: str, base_sha: str) -> list[_Branch]:
    """The branches with a commit that the base lacks, newest first; a name that stands for another branch is none."""
    listed = git("for-each-ref", "--sort=-committerdate", f"--no-merged={base_sha}", f"--format={_FORMAT}", HEADS)
    branches = []
    for line in listed.splitlines():
        ref, sha, seconds, symref = line.split(b"\0")
        name = os.fsdecode(ref)
        if name != base and not symref:
            branches.append(_Branch(name.removeprefix(HEADS), sha.decode(), _moment(seconds)))
    return branches


def _moment(seconds: bytes) -> datetime | None:
    """A commit may claim any time; one that no calendar holds is unknown."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _entries(git: _Git, base_sha: str, branches: list[_Branch]) -> Iterator[QueueEntry]:
    """One entry a branch, until the time is up."""
    roots = {c.branch: c.root for c in worktrees(git.common_dir, git.left) if c.branch is not None and not c.gone}
    with contextlib.suppress(GitTimeoutError):
        for branch in branches:
            counts = git("rev-list", "--left-right", "--count", f"{base_sha}...{branch.sha}", "--")
            behind, ahead = map(int, counts.split())
            root = roots.get(branch.name)
            yield QueueEntry(
                name=wire(branch.name),
                number=None,
                lane="local",
                disposition="behind" if behind else "ready",
                conflicts_with=None,
                ahead=ahead,
                behind=behind,
                committed_at=branch.committed_at,
                worktree=wire(root) if root is not None else None,
            )


def _turn(entry: QueueEntry) -> tuple[bool, bool, datetime, str]:
    """The order of merging: what holds all of the base first, then by age, the oldest first."""
    unknown = entry.committed_at is None
    return (entry.behind > 0, unknown, entry.committed_at or datetime.max.replace(tzinfo=UTC), entry.name)
