"""Cases for the reader of PATH."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brief.support import programs
from reader_case import ReaderCase


def _found(folder: Path) -> Any:
    return programs.find_program("it", "/", {"PATH": str(folder)})


def _present(folder: Path, patch: pytest.MonkeyPatch) -> Any:
    (folder / "it").touch(0o755)
    return _found(folder)


def _absent(folder: Path, patch: pytest.MonkeyPatch) -> Any:
    return _found(folder)


def _unreadable(folder: Path, patch: pytest.MonkeyPatch) -> Any:
    (folder / "it").symlink_to("it")
    return _found(folder)


CASES = {"support.programs.find_program": ReaderCase(_present, _absent, _unreadable)}
