"""Whether all that a repository's briefs rest on is well: pure judgements of what was looked at, a sentence each."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from brief.core.model.wire import Moment, Wire
from brief.core.text.sanitize import clean, wire

SCHEMA: Final = "majordomus.doctor/v1"

FORECASTING_GIT = (2, 38)
"""The first git with `merge-tree --write-tree`."""

LEAST_BYTES, FEW_BYTES = 10 * 1024 * 1024, 200 * 1024 * 1024
LEAST_FILES, FEW_FILES = 64, 256

_TOLD = 3
"""How many of several are named in one sentence."""


class Finding(Wire):
    """One check: `ok`, `warn` where something is missing that can be done without, `fail` where something is broken."""

    name: str
    level: Literal["ok", "warn", "fail"]
    sentence: str


class Diagnosis(Wire):
    """Every check of one checkout; `root` and `common_dir` are null where there is none."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["majordomus.doctor/v1"] = Field(default=SCHEMA, alias="schema")
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
    """A check that found all well."""
    return Finding(name=name, level="ok", sentence=clean(wire(sentence), 600))


def warn(name: str, sentence: str) -> Finding:
    """A check that found something to mend one day; the sentence says what to do."""
    return Finding(name=name, level="warn", sentence=clean(wire(sentence), 600))


def fail(name: str, sentence: str) -> Finding:
    """A check that found something broken; the sentence says what to do."""
    return Finding(name=name, level="fail", sentence=clean(wire(sentence), 600))


# ---------------------------------------------------------------- lease, server, socket


def judge_lease(record: dict[str, Any] | None, absence: str, *, running: bool, startable: bool) -> Finding:
    """The lease file: `absence` is why there is no record, `startable` whether a server could be held at all."""
    if record is None:
        return ok("lease", "no server holds this repository; what writes starts one") if startable else _no(absence)
    holder = f"epoch {record.get('epoch')}, pid {record.get('pid')}"
    if not running:
        return warn("lease", f"{holder} is gone and left its lease behind; majordomus serve ensure takes over")
    return ok("lease", f"{holder}, since {record.get('since')}")


def _no(absence: str) -> Finding:
    return fail("lease", absence)


def judge_server(status: dict[str, Any] | None, why: str, ours: str, *, running: bool | None) -> Finding:
    """What the holder answered, or `why` it did not; `running` is None where no lease names any."""
    if running is None:
        return ok("server", "none runs")
    if status is None:
        return fail("server", why) if running else warn("server", why)
    version = status.get("version")
    if status.get("outdated"):
        return warn("server", f"{status['outdated']}; majordomus serve ensure replaces it when idle")
    if version != ours:
        return warn(
            "server",
            f"outdated: it runs version {version} and this is {ours}; majordomus serve stop ends it, serve ensure begins anew",
        )
    count = status.get("episodes")
    return ok("server", f"answers, version {version}, {count} open episode{'' if count == 1 else 's'}")


def judge_socket(
    path: str, found: tuple[int, int] | None, folder: tuple[int, int] | None, uid: int, *, running: bool
) -> Finding:
    """The socket and the folder it lies in, each as mode and owner, None where it is not there."""
    if found is None:
        sentence = f"{path} is not there; majordomus serve ensure starts a server that answers"
        return fail("socket", sentence) if running else warn("socket", sentence)
    mode, owner = found
    if not stat.S_ISSOCK(mode):
        return fail("socket", f"{path} is no socket; remove it and run majordomus serve ensure")
    if owner != uid:
        return fail("socket", f"{path} belongs to uid {owner}, not to you; remove the folder and set XDG_RUNTIME_DIR")
    for place, it, kept in (("socket", found, "600"), ("folder", folder or found, "700")):
        if stat.S_IMODE(it[0]) & 0o077:
            where = path if place == "socket" else path.rpartition("/")[0]
            return fail("socket", f"{where} is open to others (mode {stat.S_IMODE(it[0]):o}); run chmod {kept} {where}")
    return ok("socket", f"{path}, yours alone")


# ---------------------------------------------------------------- files


def judge_policy(faults: Sequence[str], *, readable: bool, present: bool) -> Finding:
    """The policy: a faulty key is dropped and all else holds; an unreadable file counts for nothing."""
    if faults:
        told = f"{_some(faults)}; majordomus policy check tells all" if len(faults) > 1 else faults[0]
        return warn("policy", told) if readable else fail("policy", told)
    return ok("policy", "good" if present else "there is none, the defaults hold; majordomus init writes one")


def judge_trust(fault: str | None, untrusted: Sequence[str]) -> Finding:
    """The trust file, and the values that the policy asks for and that do not count."""
    if fault is not None:
        return fail("trust", fault)
    if untrusted:
        return warn(
            "trust", f"the policy asks for {_some(untrusted)}, which does not count; see majordomus trust --list"
        )
    return ok("trust", "nothing is asked for that is not trusted")


def judge_database(path: str, damage: str | None, *, present: bool) -> Finding:
    """The database: `damage` is what SQLite says of it, or why it cannot be read."""
    if damage is not None:
        return fail("database", damage)
    return ok("database", f"{path} is whole" if present else "there is none yet; the first server makes it")


def judge_space(folder: str, free_bytes: int, free_files: int | None) -> Finding:
    """The disk of the state folder, for its user; `free_files` None where the file system counts none."""
    left = f"{free_bytes // (1024 * 1024):,} MiB are free for {folder}"
    if free_bytes < LEAST_BYTES:
        return fail("disk", f"{left}, too few to write a journal; make room")
    if free_files == 0:
        return fail("disk", f"no file can be made in {folder}: its file system has no inode left; remove files")
    if free_bytes < FEW_BYTES:
        return warn("disk", f"{left}; make room before it runs out")
    return ok("disk", left)


# ---------------------------------------------------------------- git, zones, worktrees, limits


def judge_git(version: tuple[int, int] | None, told: str, oldest: tuple[int, int]) -> Finding:
    """The git on PATH: `told` is what it calls itself, `oldest` the version that is needed."""
    if version is None:
        return fail("git", f"{told!r} names no version; install git {_dotted(oldest)} or newer")
    if version < oldest:
        return fail("git", f"{_dotted(version)} is too old; install git {_dotted(oldest)} or newer")
    if version < FORECASTING_GIT:
        needed = _dotted(FORECASTING_GIT)
        return warn("git", f"{_dotted(version)} forecasts no conflicts; install git {needed} or newer for that")
    return ok("git", told)


def judge_zones(name: str, fault: str | None, *, has_tzdata: bool) -> Finding:
    """The zone in force, and whether zones are known at all."""
    if not has_tzdata:
        return fail("zones", "no time zone is known here; install tzdata")
    return warn("zones", fault) if fault is not None else ok("zones", f"{name} is in force")


def judge_worktrees(count: int, lost: Sequence[str], locked: Sequence[str] = ()) -> Finding:
    """The checkouts that git lists, the names of those that are gone or could be pruned, and of those it keeps so.

    `git worktree prune` never removes a locked one: its folder may lie on a drive that is not mounted.
    """
    told = [f"{_some(lost)} gone or prunable; git worktree prune forgets them"] if lost else []
    told += (
        [f"{_some(locked)} locked, and the folder is away; git worktree unlock lets prune forget them"]
        if locked
        else []
    )
    if told:
        return warn("worktrees", f"of {count}: {'; '.join(told)}")
    return ok("worktrees", f"{count} {'is' if count == 1 else 'are'} there")


def judge_descriptors(limit: int | None) -> Finding:
    """How many files a process may have open, None for any number."""
    if limit is None:
        return ok("descriptors", "any number of files may be open")
    if limit < LEAST_FILES:
        return fail("descriptors", f"only {limit} files may be open at once; raise it with ulimit -n {FEW_FILES * 4}")
    if limit < FEW_FILES:
        return warn("descriptors", f"{limit} files may be open at once; raise it with ulimit -n {FEW_FILES * 4}")
    return ok("descriptors", f"{limit} files may be open at once")


def _some(names: Sequence[str]) -> str:
    more = len(names) - _TOLD
    return ", ".join(clean(wire(name), 200) for name in names[:_TOLD]) + (f" and {more} more" if more > 0 else "")


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


# ---------------------------------------------------------------- for a person


def diagnosis_text(diagnosis: Diagnosis) -> str:
    """A line for each check: level, name, sentence."""
    width = max((len(finding.name) for finding in diagnosis.findings), default=0)
    return "".join(f"{one.level:<4}  {one.name:<{width}}  {one.sentence}\n" for one in diagnosis.findings)
