"""Cases for the readers in `notices/`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brief.notices.folder import find_file
from reader_case import ReaderCase


def _present(folder: Path, _: pytest.MonkeyPatch) -> Any:
    (folder / "active").mkdir()
    (folder / "active/a.md").touch()
    return find_file(str(folder), "a")


def _unreadable(folder: Path, _: pytest.MonkeyPatch) -> Any:
    """A folder that is a link to itself cannot be accessed, even by root."""
    (folder / "active").symlink_to("active")
    return find_file(str(folder), "a")


CASES = {
    "notices.folder.find_file": ReaderCase(
        present=_present, absent=lambda folder, _: find_file(str(folder), "a"), unreadable=_unreadable
    )
}
