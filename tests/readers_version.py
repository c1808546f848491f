"""Cases for the reader of installed files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brief.server.version_check import file_identity
from reader_case import ReaderCase


def _looping(folder: Path, _: pytest.MonkeyPatch) -> Any:
    """A link to itself leads nowhere, which does not prove that there is no file."""
    (folder / "file").symlink_to("file")
    return file_identity(str(folder / "file"))


CASES = {
    "server.version_check.file_identity": ReaderCase(
        present=lambda folder, _: file_identity(str(folder)),
        absent=lambda folder, _: file_identity(str(folder / "file")),
        unreadable=_looping,
    )
}
