"""Cases for the reader that looks for a checkout which may be gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brief.git.checkout_presence import find_checkout
from reader_case import ReaderCase


def _entry(folder: Path) -> Path:
    """Make a git folder with one entry, whose work tree is on a drive that is not mounted. Returns the file of the entry."""
    entry = folder / "r/.git/worktrees/linked"
    entry.mkdir(parents=True)
    (folder / "r/.git/HEAD").touch()
    (entry / "gitdir").write_text(f"{folder}/drive/linked/.git\n")
    return entry / "gitdir"


def _found(folder: Path, name: str) -> Any:
    return find_checkout(f"{folder}/r/.git", f"{folder}/drive/{name}")


def _present(folder: Path, _: pytest.MonkeyPatch) -> Any:
    _entry(folder)
    return _found(folder, "linked")


def _absent(folder: Path, _: pytest.MonkeyPatch) -> Any:
    _entry(folder)
    return _found(folder, "other")


def _unreadable(folder: Path, _: pytest.MonkeyPatch) -> Any:
    """An entry that is a link to itself cannot be read, even by root."""
    gitdir = _entry(folder)
    gitdir.unlink()
    gitdir.symlink_to("gitdir")
    return _found(folder, "other")


CASES = {"git.checkout_presence.find_checkout": ReaderCase(_present, _absent, _unreadable)}
