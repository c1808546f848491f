"""Reading changes nothing: seen by the kernel's own report of what is made in the folders of git."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brief.git import WorktreeShelf, base_branch, worktrees
from brief.integration.survey import observe
from lab import Lab

IN_CREATE_OR_MOVED_TO = 0x100 | 0x80
EVENT_HEAD = 16


@contextmanager
def watched(*folders: Path) -> Iterator[list[str]]:
    """The names of all files made in the folders, filled in at the end (inotify)."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    made: list[str] = []
    try:
        for folder in folders:
            assert libc.inotify_add_watch(descriptor, os.fsencode(folder), IN_CREATE_OR_MOVED_TO) > 0
        yield made
        try:
            while report := os.read(descriptor, 65_536):
                made.extend(names_of(report))
        except BlockingIOError:
            pass
    finally:
        os.close(descriptor)


def names_of(report: bytes) -> Iterator[str]:
    """The names in a row of `struct inotify_event`: a head of 16 bytes whose last four are the length of the name."""
    while report:
        length = int.from_bytes(report[12:EVENT_HEAD], "little")
        yield report[EVENT_HEAD : EVENT_HEAD + length].rstrip(b"\0").decode()
        report = report[EVENT_HEAD + length :]


@pytest.fixture
def stale(lab: Lab) -> Lab:
    """A repository whose indexes no longer fit the times of the files, as after any build."""
    lab.commit(a_txt="a", b_txt="b")
    topic = lab.worktree("topic")
    lab.commit(cwd=topic, c_txt="c")
    lab.commit(a_txt="more")
    for tree in (lab.repo, topic):
        for file in tree.glob("*.txt"):
            os.utime(file, (1, 1))
    return lab


def folders_of(lab: Lab) -> list[Path]:
    """Every folder that git writes in."""
    return [lab.repo / ".git", *(path for path in (lab.repo / ".git").rglob("*") if path.is_dir())]


def snapshot(lab: Lab) -> dict[str, tuple[int, int, int, bytes]]:
    """Every file of the lab's repository: times, size and content."""
    found = {}
    for path in sorted(lab.base.rglob("*")):
        if path.is_file():
            seen = path.stat()
            found[str(path)] = (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, path.read_bytes())
    return found


def test_the_watch_sees_what_others_do(stale: Lab) -> None:
    """git status on such an index takes its lock, and the watch tells."""
    with watched(*folders_of(stale)) as made:
        stale.git("status")
    assert "index.lock" in made


def test_reading_makes_no_file_takes_no_lock_and_writes_no_object(stale: Lab) -> None:
    """All that is asked of git leaves every file, ref, index and object as it was."""
    before, objects = snapshot(stale), stale.git("count-objects", "-v")
    with watched(*folders_of(stale)) as made:
        shelf = WorktreeShelf(stale.common_dir)
        for _ in range(5):
            shelf.read()
            worktrees(stale.common_dir)
            base = base_branch(stale.common_dir, None)
            observe(stale.common_dir, base, datetime(2026, 1, 1, tzinfo=UTC))
    assert made == []
    assert snapshot(stale) == before
    assert stale.git("count-objects", "-v") == objects
