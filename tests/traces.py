"""Traces that programs leave in a git folder while it is watched: locks, objects, refs, and calls to another machine.

The kernel tells of every file that comes to be, whoever makes it and however soon it goes again (inotify, Linux).
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox import Lab

_CREATED_OR_MOVED_TO, _OVERFLOW = 0x100 | 0x80, 0x4000
_HEAD = struct.Struct("iIII")


@contextmanager
def watched(*folders: Path) -> Iterator[list[str]]:
    """The paths of all files created directly in these folders, once for each time. Filled in at the end."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    made: list[str] = []
    try:
        by_watch = {
            libc.inotify_add_watch(descriptor, os.fsencode(path), _CREATED_OR_MOVED_TO): path for path in folders
        }
        assert len(by_watch) == len(folders), os.strerror(ctypes.get_errno())
        yield made
        made.extend(str(by_watch[watch] / name) for watch, name in _events(_received(descriptor)))
    finally:
        os.close(descriptor)


def _received(descriptor: int) -> bytes:
    """All events that the kernel has to report."""
    received = b""
    try:
        while report := os.read(descriptor, 65_536):
            received += report
    except BlockingIOError:
        pass
    return received


def _events(received: bytes) -> Iterator[tuple[int, str]]:
    """The watch and the name of each `struct inotify_event` in the bytes."""
    at = 0
    while at < len(received):
        watch, mask, _, length = _HEAD.unpack_from(received, at)
        assert not mask & _OVERFLOW, "more happened than the kernel keeps"
        at += _HEAD.size
        yield watch, os.fsdecode(received[at : at + length].rstrip(b"\0"))
        at += length


def git_folders(lab: Lab) -> list[Path]:
    """Every folder that git writes to: all of its own except the one with our state."""
    common = Path(lab.common_dir)
    return [common, *(path for path in common.rglob("*") if path.is_dir() and lab.state not in (path, *path.parents))]


@contextmanager
def traces(lab: Lab) -> Iterator[list[str]]:
    """The traces in the git folder of a baited lab: files created there or below, and baits taken. Filled in at the end."""
    left: list[str] = []
    before = len(_taken(lab))
    with watched(*git_folders(lab)) as made:
        yield left
    paths = (os.path.relpath(path, lab.common_dir) for path in made if path != str(lab.state))
    left.extend((*paths, *_taken(lab)[before:]))


def bait(lab: Lab) -> None:
    """Give the repository a remote and a file system monitor that record every call."""
    program = lab.base / "bait"
    program.write_text(f'#!/bin/sh\necho "called: $*" >>"{lab.base}/taken"\n')
    program.chmod(0o755)
    for key, value in {
        "core.fsmonitor": str(program),
        "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::{program} fetch",
        "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
    }.items():
        lab.git("config", key, value)


def _taken(lab: Lab) -> list[str]:
    path = lab.base / "taken"
    return path.read_text().splitlines() if path.exists() else []


def make_stale(lab: Lab, number: int) -> None:
    """Change a tracked file, so that the index has stale stat data. Every tenth time git must compare contents too."""
    (lab.repo / "file-0.txt").write_text(f"change {number}\n")
    if number % 10 == 0:
        os.utime(lab.repo / ".git/config")
