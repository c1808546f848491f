"""Cases for the readers of small files in the git folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from brief.git.head import read_ref
from brief.git.worktrees import entry_root, read_text
from reader_case import ReaderCase

COMMIT = "0123456789" * 4


def _with(name: str, text: str, read: Callable[[str], object]) -> Callable[[Path, pytest.MonkeyPatch], object]:
    """Read a folder in which the file `name` holds the text."""

    def call(folder: Path, _patch: pytest.MonkeyPatch) -> object:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        return read(str(folder))

    return call


def _looping(name: str, read: Callable[[str], object]) -> Callable[[Path, pytest.MonkeyPatch], object]:
    """Read a folder in which the file `name` is a link to itself, which not even root can open."""

    def call(folder: Path, _patch: pytest.MonkeyPatch) -> object:
        (folder / name).symlink_to(name)
        return read(str(folder))

    return call


def _text(folder: str) -> object:
    return read_text(f"{folder}/config")


def _ref(folder: str) -> object:
    return read_ref(folder, "refs/heads/main")


CASES = {
    "git.worktrees.read_text": ReaderCase(
        _with("config", "[core]", _text), lambda folder, _: _text(str(folder)), _looping("config", _text)
    ),
    "git.worktrees.entry_root": ReaderCase(
        _with("gitdir", "/somewhere/.git\n", entry_root),
        lambda folder, _: entry_root(str(folder)),
        _looping("gitdir", entry_root),
    ),
    "git.head.read_ref": ReaderCase(
        _with("refs/heads/main", COMMIT, _ref),
        lambda folder, _: _ref(str(folder)),
        _with("refs/heads/main", "0" * 40, _ref),
    ),
}
