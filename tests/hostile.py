"""Replace a file or folder of ours with a hostile one: a link, a pipe, the wrong kind, another user's, writable by others."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FOREIGN = 54_321
"""A user id that belongs to no account."""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a file to another user")


def link(victim: Path, elsewhere: Path) -> None:
    """Move the victim elsewhere and put a link in its place."""
    shutil.move(victim, elsewhere)
    victim.symlink_to(elsewhere)


def dangling_link(victim: Path, elsewhere: Path) -> None:
    """Put a dangling link there; opening it for writing would create its target."""
    while not victim.is_symlink():  # a running server may make it again in between
        _remove(victim)
        with contextlib.suppress(FileExistsError):
            victim.symlink_to(elsewhere)


def pipe(victim: Path, elsewhere: Path) -> None:
    """Put a pipe there; opening it for reading blocks."""
    _remove(victim)
    os.mkfifo(victim, 0o600)


def other_kind(victim: Path, elsewhere: Path) -> None:
    """Put a file in place of a folder, or a folder in place of a file."""
    is_folder = victim.is_dir()
    _remove(victim)
    victim.touch(0o600) if is_folder else victim.mkdir(0o700)


def foreign(victim: Path, elsewhere: Path) -> None:
    """Give the victim to another user, with a mode that lets everybody in."""
    os.chmod(victim, 0o777 if victim.is_dir() else 0o666)
    os.chown(victim, FOREIGN, FOREIGN)


FORMS: dict[str, Callable[[Path, Path], None]] = {
    "link": link,
    "dangling link": dangling_link,
    "pipe": pipe,
    "other kind": other_kind,
    "foreign": foreign,
}
FORM_PARAMS: list[Any] = [pytest.param(name, marks=needs_root if name == "foreign" else ()) for name in FORMS]


def widen(victim: Path) -> None:
    """Make the victim writable by everybody."""
    victim.chmod(0o777 if victim.is_dir() else 0o666)


def snapshot(folder: Path) -> dict[str, object]:
    """Describe everything below a folder without following links: mode, owner, content or target, and modification time."""
    if not folder.exists() or folder.is_symlink():
        return {"": os.readlink(folder) if folder.is_symlink() else None}
    return {str(path.relative_to(folder)): _known(path) for path in (folder, *sorted(folder.rglob("*")))}


def _known(path: Path) -> object:
    found = path.lstat()
    content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found.st_mode, found.st_uid, content, 0 if path.is_dir() else found.st_mtime_ns


def _remove(victim: Path) -> None:
    shutil.rmtree(victim) if victim.is_dir() else victim.unlink()
