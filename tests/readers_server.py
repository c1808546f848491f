"""The readers of `server/`, each with its source present, absent and unreadable."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from brief.server.lease import locked_file
from reader_case import ReaderCase


def _locked(folder: Path, path: Path) -> Any:
    """What is found at a path by the holder of the file `lease.lock`."""
    (folder / "lease.lock").touch()
    descriptor = os.open(folder / "lease.lock", os.O_RDWR)
    try:
        return locked_file(descriptor, path)
    finally:
        os.close(descriptor)


def _looping(folder: Path, _: pytest.MonkeyPatch) -> Any:
    """A path through a link that leads to itself cannot be looked at, by root either."""
    (folder / "loop").symlink_to("loop")
    return _locked(folder, folder / "loop/lease.lock")


CASES = {
    "server.lease.locked_file": ReaderCase(
        present=lambda folder, _: _locked(folder, folder / "lease.lock"),
        absent=lambda folder, _: _locked(folder, folder / "other.lock"),
        unreadable=_looping,
    )
}
