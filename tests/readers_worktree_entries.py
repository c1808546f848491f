"""Cases for the reader of worktree entries that git does not list."""

from __future__ import annotations

from pathlib import Path

import pytest

from brief.git.worktree_entries import unlisted_entries
from reader_case import ReaderCase


def _present(folder: Path, _patch: pytest.MonkeyPatch) -> object:
    (folder / "worktrees/topic").mkdir(parents=True)
    return unlisted_entries(str(folder), ())


def _absent(folder: Path, _patch: pytest.MonkeyPatch) -> object:
    return unlisted_entries(str(folder), ())


def _unreadable(folder: Path, _patch: pytest.MonkeyPatch) -> object:
    (folder / "worktrees").touch()
    return unlisted_entries(str(folder), ())


CASES = {"git.worktree_entries.unlisted_entries": ReaderCase(_present, _absent, _unreadable)}
