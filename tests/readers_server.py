"""Cases for the readers in `server/` and `sessions/losses.py`."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from brief.server.lease import locked_file
from brief.server.receipt import closed_in_order, unread_bytes
from brief.sessions.losses import read_record
from reader_case import ReaderCase


def _locked(folder: Path, path: Path) -> Any:
    """Look at `path` as a process that holds the file `lease.lock` open."""
    (folder / "lease.lock").touch()
    descriptor = os.open(folder / "lease.lock", os.O_RDWR)
    try:
        return locked_file(descriptor, path)
    finally:
        os.close(descriptor)


def _looping(folder: Path, _: pytest.MonkeyPatch) -> Any:
    """A path through a link to itself cannot be accessed, even by root."""
    (folder / "loop").symlink_to("loop")
    return _locked(folder, folder / "loop/lease.lock")


def _written(how: str) -> Any:
    """Both ends of a connection to which ten bytes were written; the other side has `read` them, `closed` its end, or neither."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    ours.send(bytes(10))
    if how == "read":
        theirs.recv(10)
    elif how == "closed":
        theirs.close()
    return ours, theirs


def _unread(how: str) -> Any:
    ours, theirs = _written(how)
    with ours, theirs:
        return unread_bytes(ours)


def _unread_of_tcp() -> Any:
    with socket.socket(socket.AF_INET) as ours:
        return unread_bytes(ours)


def _closed(how: str) -> Any:
    ours, theirs = _written(how)
    with ours, theirs:
        return closed_in_order(ours)


def _closed_unconnected() -> Any:
    with socket.socket(socket.AF_INET) as ours:
        return closed_in_order(ours)


def _record(folder: Path, *, lock: bytes | None = None) -> Any:
    """Read the record in a state folder whose lock file holds `lock`, or which has none."""
    if lock is not None:
        (folder / "lease.lock").write_bytes(lock)
    return read_record(str(folder))


def _record_in_a_link(folder: Path, _: pytest.MonkeyPatch) -> Any:
    """A link in place of the lock is not followed."""
    (folder / "lease.lock").symlink_to("elsewhere")
    return read_record(str(folder))


CASES = {
    "sessions.losses.read_record": ReaderCase(
        present=lambda folder, _: _record(folder, lock=b'{"database": true}'),
        absent=lambda folder, _: _record(folder),
        unreadable=_record_in_a_link,
    ),
    "server.receipt.unread_bytes": ReaderCase(
        present=lambda *_: _unread("unread"),
        absent=lambda *_: _unread("read"),
        unreadable=lambda *_: _unread_of_tcp(),
    ),
    "server.receipt.closed_in_order": ReaderCase(
        present=lambda *_: _closed("closed"),
        absent=lambda *_: _closed("unread"),
        unreadable=lambda *_: _closed_unconnected(),
    ),
    "server.lease.locked_file": ReaderCase(
        present=lambda folder, _: _locked(folder, folder / "lease.lock"),
        absent=lambda folder, _: _locked(folder, folder / "other.lock"),
        unreadable=_looping,
    ),
}
