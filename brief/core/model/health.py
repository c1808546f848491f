"""The rules of `majordomus doctor`: each turns one observation into a finding with one sentence."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from typing import Any, Final, Literal

from msgspec import field

from brief.core.model.wire import Moment, Wire
from brief.core.text.sanitize import clean, to_wire

SCHEMA: Final = "majordomus.doctor/v1"

FORECASTING_GIT = (2, 38)
"""The first git with `merge-tree --write-tree`."""

LEAST_BYTES, FEW_BYTES = 10 * 1024 * 1024, 200 * 1024 * 1024
LEAST_FILES, FEW_FILES = 64, 256

_MOST_NAMED = 3
"""How many names one sentence lists at most."""


class Finding(Wire, frozen=True):
    """The result of one check: `ok`, `warn` if something dispensable is missing, `fail` if something is broken."""

    name: str
    level: Literal["ok", "warn", "fail"]
    sentence: str


class Diagnosis(Wire, frozen=True, kw_only=True):
    """All checks of one checkout. `root` and `common_dir` are null outside a checkout."""

    schema_: Literal["majordomus.doctor/v1"] = field(default=SCHEMA, name="schema")
    at: Moment
    version: str
    root: str | None
    common_dir: str | None
    findings: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Whether something is broken."""
        return any(finding.level == "fail" for finding in self.findings)


def ok(name: str, sentence: str) -> Finding:
    """A finding without a fault."""
    return Finding(name=name, level="ok", sentence=clean(to_wire(sentence), 600))


def warn(name: str, sentence: str) -> Finding:
    """A finding that can wait. The sentence says what to do."""
    return Finding(name=name, level="warn", sentence=clean(to_wire(sentence), 600))


def fail(name: str, sentence: str) -> Finding:
    """A finding of something broken. The sentence says what to do."""
    return Finding(name=name, level="fail", sentence=clean(to_wire(sentence), 600))


# ---------------------------------------------------------------- lease, server, socket


def judge_lease(record: dict[str, Any] | None, absence: str, *, running: bool, startable: bool) -> Finding:
    """Check the lease file. `absence` is why there is no record, `startable` whether a server could start at all."""
    if record is None and startable:
        return ok("lease", "no server holds this repository; the next command that writes starts one")
    if record is None:
        return fail("lease", absence)
    holder = f"epoch {record.get('epoch')}, pid {record.get('pid')}"
    if not running:
        return warn("lease", f"{holder} is gone and left its lease behind; majordomus serve ensure takes over")
    return ok("lease", f"{holder}, since {record.get('since')}")


def judge_server(status: dict[str, Any] | None, why: str, ours: str, *, running: bool | None) -> Finding:
    """Check the holder's answer, or `why` it gave none. `running` is None if no lease names a holder."""
    if running is None:
        return ok("server", "none is running")
    if status is None:
        return fail("server", why) if running else warn("server", why)
    version = status.get("version")
    if status.get("outdated"):
        return warn("server", f"{status['outdated']}; majordomus serve ensure replaces it when idle")
    if version != ours:
        return warn(
            "server",
            f"outdated: it runs version {version} and this is {ours}; run majordomus serve stop, then serve ensure",
        )
    count = status.get("episodes")
    return ok("server", f"answers, version {version}, {count} open episode{'' if count == 1 else 's'}")


def judge_socket(
    path: str, found: tuple[int, int] | None, folder: tuple[int, int] | None, uid: int, *, running: bool
) -> Finding:
    """Check the socket and its folder, each given as mode and owner, or None if it does not exist."""
    if found is None:
        sentence = f"{path} does not exist; majordomus serve ensure starts a server that answers"
        return fail("socket", sentence) if running else warn("socket", sentence)
    mode, owner = found
    if not stat.S_ISSOCK(mode):
        return fail("socket", f"{path} is not a socket; remove it and run majordomus serve ensure")
    if owner != uid:
        return fail("socket", f"{path} belongs to uid {owner}, not to you; remove the folder and set XDG_RUNTIME_DIR")
    for place, it, kept in (("socket", found, "600"), ("folder", folder or found, "700")):
        if stat.S_IMODE(it[0]) & 0o077:
            where = path if place == "socket" else path.rpartition("/")[0]
            return fail("socket", f"{where} is open to others (mode {stat.S_IMODE(it[0]):o}); run chmod {kept} {where}")
    return ok("socket", f"{path}, open to you alone")


# ---------------------------------------------------------------- files


def judge_policy(faults: Sequence[str], source: str, *, readable: bool, present: bool) -> Finding:
    """Check the policy in force, which `source` names. A faulty key is dropped and the rest applies."""
    if faults:
        sentence = (
            f"{len(faults)} faults, which majordomus policy check lists; the first: {faults[0]}"
            if len(faults) > 1
            else faults[0]
        )
        return warn("policy", sentence) if readable else fail("policy", sentence)
    return ok("policy", f"good: {source}" if present else "none, so the defaults apply; majordomus init writes one")


def judge_trust(fault: str | None, untrusted: Sequence[str]) -> Finding:
    """Check the trust file, and the policy values that do not count because they are not trusted."""
    if fault is not None:
        return fail("trust", fault)
    if untrusted:
        return warn("trust", f"the policy sets {_some(untrusted)}, which is not trusted; see majordomus trust --list")
    return ok("trust", "the policy sets nothing that is not trusted")


def judge_database(path: str, damage: str | None, *, present: bool) -> Finding:
    """Check the database. `damage` is what SQLite reports, or why it cannot be read."""
    if damage is not None:
        return fail("database", damage)
    return ok("database", f"{path} is intact" if present else "there is none yet; the first server creates it")


def judge_space(folder: str, free_bytes: int, free_files: int | None) -> Finding:
    """Check the space left for the state folder. `free_files` is None if the file system does not count files."""
    left = f"{free_bytes // (1024 * 1024):,} MiB are free for {folder}"
    if free_bytes < LEAST_BYTES:
        return fail("disk", f"{left}, too little to write a journal; free some space")
    if free_files == 0:
        return fail("disk", f"no file can be created in {folder}: its file system has no inodes left; remove files")
    if free_bytes < FEW_BYTES:
        return warn("disk", f"{left}; free some space before it runs out")
    return ok("disk", left)


# ---------------------------------------------------------------- git, zones, worktrees, limits


def judge_git(version: tuple[int, int] | None, described: str, oldest: tuple[int, int]) -> Finding:
    """Check the git on PATH. `described` is its own output, `oldest` the version that is required."""
    if version is None:
        return fail("git", f"{described!r} names no version; install git {_dotted(oldest)} or newer")
    if version < oldest:
        return fail("git", f"{_dotted(version)} is too old; install git {_dotted(oldest)} or newer")
    if version < FORECASTING_GIT:
        needed = _dotted(FORECASTING_GIT)
        return warn("git", f"{_dotted(version)} cannot forecast conflicts; install git {needed} or newer for that")
    return ok("git", described)


def judge_zones(name: str, fault: str | None, *, has_tzdata: bool) -> Finding:
    """Check the time zone in force, and whether zones are known at all."""
    if not has_tzdata:
        return fail("zones", "no time zones are known here; install tzdata")
    return warn("zones", fault) if fault is not None else ok("zones", f"{name} is in force")


def judge_worktrees(
    count: int,
    lost: Sequence[str],
    locked: Sequence[str] = (),
    unlisted: Sequence[str] = (),
    unread: str | None = None,
) -> Finding:
    """Check the checkouts that git lists: `lost` are gone or prunable, `locked` are locked and their folder is away.

    `unlisted` are the entries that git silently skips; `unread` is why these are unknown. A locked folder may be away because
    its drive is not mounted, which is what locking is for. That is not a fault, and no advice may destroy its record, since an
    unmounted drive cannot be distinguished from a deleted folder.
    """
    away = f"{_some(locked)} locked, with the folder away as on a drive that is not mounted" if locked else ""
    if unread is not None:
        return warn("worktrees", f"{count} listed, and {unread}")
    if unlisted:
        skipped = (
            f"{_some(unlisted)} below worktrees/ of the git folder cannot be read, so git skips what they stand for"
        )
        return warn(
            "worktrees", f"{count} listed; {skipped}; run git worktree repair, or git worktree prune if it is gone"
        )
    if not lost:
        return ok("worktrees", f"{count} listed, of them {away}" if away else f"{count} present")
    missing = (
        f"{_some(lost)} missing: mount the drive if it lies on one, run git worktree repair in it if it was moved, or "
        "git worktree prune if it was deleted"
    )
    return warn("worktrees", f"of {count}: {missing}" + (f"; {away}" if away else ""))


def judge_notices(count: int, unread: Sequence[str]) -> Finding:
    """Check the files of notices: `unread` is a clause for each file or folder that could not be read."""
    if unread:
        advice = "correct each, or move it away with majordomus alerts archive PATH"
        return warn("notices", f"{len(unread)} not read, possibly locks: {_some(unread)}; {advice}")
    return ok("notices", f"{count} readable")


def judge_descriptors(limit: int | None) -> Finding:
    """Check how many files a process may have open, None for no limit."""
    if limit is None:
        return ok("descriptors", "any number of files may be open at once")
    if limit < LEAST_FILES:
        return fail("descriptors", f"only {limit} files may be open at once; raise it with ulimit -n {FEW_FILES * 4}")
    if limit < FEW_FILES:
        return warn("descriptors", f"{limit} files may be open at once; raise it with ulimit -n {FEW_FILES * 4}")
    return ok("descriptors", f"{limit} files may be open at once")


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(clean(to_wire(name), 200) for name in names[:_MOST_NAMED]) + (
        f" and {more} more" if more > 0 else ""
    )


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


# ---------------------------------------------------------------- text


def diagnosis_text(diagnosis: Diagnosis) -> str:
    """One line for each check: level, name, sentence."""
    width = max((len(finding.name) for finding in diagnosis.findings), default=0)
    return "".join(f"{one.level:<4}  {one.name:<{width}}  {one.sentence}\n" for one in diagnosis.findings)
