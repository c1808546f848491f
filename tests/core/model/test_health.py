from __future__ import annotations

import stat
from datetime import UTC, datetime
from typing import Any

import pytest

from brief.core.model.health import (
    Diagnosis,
    Finding,
    diagnosis_text,
    fail,
    judge_database,
    judge_descriptors,
    judge_git,
    judge_lease,
    judge_notices,
    judge_policy,
    judge_server,
    judge_socket,
    judge_space,
    judge_trust,
    judge_worktrees,
    judge_zones,
    ok,
    warn,
)

RECORD = {"epoch": 5, "pid": 7, "since": "2026-03-01T12:00:00Z"}
MIB = 1024 * 1024
SOCKET, FOLDER = (stat.S_IFSOCK | 0o600, 1000), (stat.S_IFDIR | 0o700, 1000)


def told(finding: Finding, level: str, *words: str) -> None:
    """Assert the level of a finding and words of its sentence."""
    assert finding.level == level, finding
    assert all(word in finding.sentence for word in words), finding


def test_lease() -> None:
    """No lease is well where one could be had, a dead holder is worth a word, and a damaged lease is broken."""
    told(judge_lease(RECORD, "", running=True, startable=True), "ok", "epoch 5, pid 7")
    told(judge_lease(RECORD, "", running=False, startable=True), "warn", "gone", "serve ensure")
    told(judge_lease(None, "none", running=False, startable=True), "ok", "no server holds")
    told(judge_lease(None, "lease.json is damaged", running=False, startable=False), "fail", "damaged")


@pytest.mark.parametrize(
    ("status", "running", "level", "word"),
    [
        ({"version": "1", "episodes": 3}, True, "ok", "3 open episodes"),
        ({"version": "0", "episodes": 3}, True, "warn", "outdated"),
        ({}, True, "warn", "outdated"),
        (
            {"version": "1", "outdated": "outdated: runs 1, 2 is installed"},
            True,
            "warn",
            "1, 2 is installed; majordomus",
        ),
        (None, True, "fail", "silent"),
        (None, False, "warn", "silent"),
        (None, None, "ok", "none is running"),
    ],
)
def test_server(status: dict[str, Any] | None, running: bool | None, level: str, word: str) -> None:
    """A server that answers with our version is well, with another is outdated, and one that runs in silence is broken."""
    told(judge_server(status, "it is silent", "1", running=running), level, word)


@pytest.mark.parametrize(
    ("found", "folder", "level", "word"),
    [
        (SOCKET, FOLDER, "ok", "open to you alone"),
        ((stat.S_IFSOCK | 0o666, 1000), FOLDER, "fail", "chmod 600 /run/m/a.sock"),
        (SOCKET, (stat.S_IFDIR | 0o755, 1000), "fail", "chmod 700 /run/m"),
        ((stat.S_IFREG | 0o600, 1000), FOLDER, "fail", "not a socket"),
        ((stat.S_IFSOCK | 0o600, 1), FOLDER, "fail", "uid 1"),
        (None, FOLDER, "fail", "does not exist"),
    ],
)
def test_socket(found: tuple[int, int] | None, folder: tuple[int, int], level: str, word: str) -> None:
    """A socket is well where it is one, its user's, and shut to all others, as its folder is."""
    told(judge_socket("/run/m/a.sock", found, folder, 1000, running=True), level, word)


def test_socket_of_a_server_that_is_gone() -> None:
    """That a server which is gone has no socket breaks nothing."""
    told(judge_socket("/run/m/a.sock", None, None, 1000, running=False), "warn", "does not exist")


def test_policy() -> None:
    """A faulty key is told and costs that key alone, an unreadable file is broken, none at all is well."""
    told(judge_policy([], "p.yaml of this checkout", readable=True, present=True), "ok", "good", "p.yaml")
    told(judge_policy([], "none", readable=True, present=False), "ok", "defaults")
    told(judge_policy(["a is wrong"], "p", readable=True, present=True), "warn", "a is wrong")
    told(
        judge_policy(["a", "b", "c", "d", "e"], "p", readable=True, present=True),
        "warn",
        "5 faults",
        "policy check",
        "the first: a",
    )
    told(judge_policy(["cannot be read"], "p", readable=False, present=True), "fail", "cannot be read")


def test_trust() -> None:
    """A trust file that cannot be believed is broken, values that do not count are told."""
    told(judge_trust(None, []), "ok")
    told(judge_trust(None, ["server.port 80"]), "warn", "server.port 80", "majordomus trust")
    told(judge_trust("others may write it", []), "fail", "others")


def test_database() -> None:
    """A database is intact, not there yet, or broken with SQLite's own words."""
    told(judge_database("/s/m.db", None, present=True), "ok", "intact")
    told(judge_database("/s/m.db", None, present=False), "ok", "none yet")
    told(judge_database("/s/m.db", "malformed", present=True), "fail", "malformed")


@pytest.mark.parametrize(
    ("free", "files", "level", "word"),
    [
        (10_000 * MIB, 5, "ok", "10,000 MiB"),
        (10_000 * MIB, None, "ok", "MiB"),
        (10_000 * MIB, 0, "fail", "inode"),
        (200 * MIB - 1, 5, "warn", "free some space"),
        (10 * MIB - 1, 5, "fail", "too little"),
    ],
)
def test_space(free: int, files: int | None, level: str, word: str) -> None:
    """A disk is well while there is room for bytes and for files."""
    told(judge_space("/s", free, files), level, word)


@pytest.mark.parametrize(
    ("version", "level", "word"),
    [
        ((2, 36), "warn", "2.38"),
        ((2, 35), "fail", "too old"),
        ((2, 38), "ok", "git version"),
        ((10, 0), "ok", "git version"),
        (None, "fail", "names no version"),
    ],
)
def test_git(version: tuple[int, int] | None, level: str, word: str) -> None:
    """A git that lists work trees is needed, and one that merges trees for forecasts."""
    told(judge_git(version, "git version", (2, 36)), level, word)


def test_zones_worktrees_descriptors() -> None:
    """Zones must be known at all, lost work trees are named, and few descriptors are told before there are too few."""
    told(judge_zones("UTC", None, has_tzdata=True), "ok", "UTC")
    told(judge_zones("UTC", "timezone is 'x'", has_tzdata=True), "warn", "timezone")
    told(judge_zones("UTC", None, has_tzdata=False), "fail", "tzdata")
    told(judge_worktrees(1, []), "ok", "1 present")
    told(judge_worktrees(3, ["/a\x1b[1m"]), "warn", "/a missing", "git worktree prune if it was deleted")
    told(judge_worktrees(3, ["/a"], ["/b"]), "warn", "/a missing", "/b locked, with the folder away")
    told(judge_worktrees(3, [], ["/b"]), "ok", "3 listed, of them /b locked")
    assert "prune" not in judge_worktrees(3, [], ["/b"]).sentence
    told(judge_notices(3, []), "ok", "3 readable")
    told(
        judge_notices(3, ["/n/a.md: line 1", "/n/b.md: line 2"]), "warn", "2 not read, possibly locks: /n/a.md: line 1"
    )
    told(judge_descriptors(None), "ok", "any number")
    told(judge_descriptors(1024), "ok", "1024")
    told(judge_descriptors(255), "warn", "ulimit")
    told(judge_descriptors(63), "fail", "ulimit")


def test_diagnosis() -> None:
    """A diagnosis fails by one failure alone, and is a line for each check, none of which can steer a terminal."""
    findings = (ok("git", "fine"), warn("disk", "little"), fail("lease", "da\x1b[2Jmaged\n!"))
    diagnosis = Diagnosis(
        at=datetime(2026, 3, 1, tzinfo=UTC), version="1", root=None, common_dir=None, findings=findings
    )
    assert diagnosis.failed
    assert not diagnosis.replace(findings=findings[:2]).failed
    assert diagnosis_text(diagnosis) == "ok    git    fine\nwarn  disk   little\nfail  lease  damaged !\n"
