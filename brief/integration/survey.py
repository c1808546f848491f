"""Survey, with git alone, which local branches contain commits that the base lacks."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from msgspec import Struct, field

from brief.core.model.errors import NotFoundError
from brief.core.model.section_data import QueueEntry
from brief.core.text.sanitize import to_wire
from brief.git.command import IGNORED, GitTimeoutError, git_cwd, run_with_warnings
from brief.git.names import HEADS, short_name
from brief.git.quarantine import quarantine
from brief.git.worktrees import list_worktrees
from brief.integration.observation import Observation

MOST_ENTRIES = 200
_MOST_GAPS = 5
_MOST_OF_A_LINE = 300
_FORMAT = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(symref)"


class _Branch(Struct, frozen=True):
    name: str
    sha: str
    committed_at: datetime | None


def observe(common_dir: str, base: str, now: datetime, budget_s: float = 20.0) -> Observation:
    """Survey the local branches against `base`, a full ref name. `now` becomes the time of the observation.

    The 200 branches with the newest commits are read, newest first, for at most `budget_s` seconds. The other branches
    that are ahead are counted as omitted. Those that cannot be read or whose commit is missing are named as unread. Raises
    NotFoundError if the base has no commit, GitError.
    """
    end = time.monotonic() + budget_s
    with quarantine(common_dir) as env:
        git = _Git(common_dir, env, end)
        base_sha = _commit_of(git, base)
        lost = _find_lost(git, base_sha)
        ahead = _find_ahead(git, base, base_sha)
        entries = tuple(_make_entries(git, base_sha, ahead[:MOST_ENTRIES]))
    unread, gaps = _find_unread(git, lost)
    return Observation(
        observed_at=now,
        base=to_wire(short_name(base)),
        base_sha=base_sha,
        provider="git",
        entries=tuple(sorted(entries, key=_merge_order)),
        omitted=len(ahead) - len(entries),
        unread=unread,
        gaps=gaps,
    )


class _Git(Struct, frozen=True):
    """Runs git in one repository and environment until `end` on the monotonic clock, and collects its warnings."""

    common_dir: str
    env: Mapping[str, str]
    end: float
    warned: dict[str, None] = field(default_factory=dict)

    def __call__(self, *args: str) -> bytes:
        printed, warned = run_with_warnings(args, git_cwd(self.common_dir), deadline_s=self.left, env=self.env)
        self.warned.update(dict.fromkeys(warned))
        return printed

    @property
    def left(self) -> float:
        return max(0.0, self.end - time.monotonic())


def _commit_of(git: _Git, base: str) -> str:
    found = git("for-each-ref", "--format=%(refname)%00%(objectname)", base)
    names = dict(line.split(b"\0") for line in found.splitlines())
    sha = names.get(os.fsencode(base))
    if sha is None:
        raise NotFoundError(
            f"the base {to_wire(short_name(base))!r} has no commit, so no branch can be compared with it"
        )
    return sha.decode()


def _find_lost(git: _Git, base_sha: str) -> set[bytes]:
    """The refs of branches whose commit is missing. Git silently lists them neither as merged nor as unmerged."""
    every, merged, ahead = (
        set(git("for-each-ref", "--format=%(refname)", *side, HEADS).splitlines())
        for side in ((), (f"--merged={base_sha}",), (f"--no-merged={base_sha}",))
    )
    return every - merged - ahead


def _find_unread(git: _Git, lost: Iterable[bytes]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The branches that git could not read, `lost` among them, and a sentence for every other reason why branches may be missing.

    Git warns of a broken ref, but silently skips a folder of refs that it cannot open.
    """
    names = {os.fsdecode(ref).removeprefix(HEADS) for ref in lost}
    gaps = list(_closed_folders(git.common_dir))
    for line in git.warned:
        ignored = IGNORED.fullmatch(line)
        if ignored is None:
            gaps.append(f"git said: {to_wire(line)[:_MOST_OF_A_LINE]}")
        elif ignored[1].startswith(HEADS):
            names.add(ignored[1].removeprefix(HEADS))
    return tuple(to_wire(name) for name in sorted(names)), tuple(gaps[:_MOST_GAPS])


def _closed_folders(common_dir: str) -> Iterator[str]:
    """A sentence for each folder of loose branches that cannot be opened."""
    failed: list[OSError] = []
    for _ in os.walk(f"{common_dir}/{HEADS}", onerror=failed.append):
        pass
    for error in failed:
        # A folder may be removed meanwhile. In a repository with reftables, refs/heads is a file.
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            folder = to_wire(os.path.relpath(error.filename, common_dir))
            yield f"the branches in {folder[:_MOST_OF_A_LINE]} could not be read: {error.strerror}"


def _find_ahead(git: _Git, base: str, base_sha: str) -> list[_Branch]:
    """The branches with a commit that the base lacks, newest first, without symbolic refs."""
    listed = git("for-each-ref", "--sort=-committerdate", f"--no-merged={base_sha}", f"--format={_FORMAT}", HEADS)
    branches = []
    for line in listed.splitlines():
        ref, sha, seconds, symref = line.split(b"\0")
        name = os.fsdecode(ref)
        if name != base and not symref:
            branches.append(_Branch(name.removeprefix(HEADS), sha.decode(), _parse_time(seconds)))
    return branches


def _parse_time(seconds: bytes) -> datetime | None:
    """The time of a commit. None if no calendar has it, since a commit may claim any number."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _make_entries(git: _Git, base_sha: str, branches: list[_Branch]) -> Iterator[QueueEntry]:
    """An entry for each branch, until the time is up."""
    roots = {c.branch: c.root for c in list_worktrees(git.common_dir, git.left) if c.branch is not None and not c.gone}
    with contextlib.suppress(GitTimeoutError):
        for branch in branches:
            counts = git("rev-list", "--left-right", "--count", f"{base_sha}...{branch.sha}", "--")
            behind, ahead = map(int, counts.split())
            root = roots.get(branch.name)
            yield QueueEntry(
                name=to_wire(branch.name),
                number=None,
                lane="local",
                disposition="behind" if behind else "ready",
                conflicts_with=None,
                ahead=ahead,
                behind=behind,
                committed_at=branch.committed_at,
                worktree=to_wire(root) if root is not None else None,
            )


def _merge_order(entry: QueueEntry) -> tuple[bool, bool, datetime, str]:
    """The order of merging: branches that contain the whole base first, then the oldest first."""
    unknown = entry.committed_at is None
    return (entry.behind > 0, unknown, entry.committed_at or datetime.max.replace(tzinfo=UTC), entry.name)
