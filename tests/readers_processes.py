"""Cases for the readers in `fastpath/process.py`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brief.fastpath import process
from reader_case import ReaderCase


def _elsewhere(read: Callable[[], Any]) -> Any:
    """Absent on a system that has no such identifier; unreadable on Linux with an empty folder in place of /proc."""

    def absent(_: Path, patch: pytest.MonkeyPatch) -> Any:
        patch.setattr(sys, "platform", "darwin")
        return read()

    return ReaderCase(present=lambda *_: read(), absent=absent, unreadable=_unreadable(read))


def _unreadable(read: Callable[[], Any]) -> Callable[[Path, pytest.MonkeyPatch], Any]:
    def call(folder: Path, patch: pytest.MonkeyPatch) -> Any:
        patch.setattr(process, "PROC", str(folder))
        return read()

    return call


def _own(**changes: Any) -> dict[str, Any]:
    return {**process.describe_process(os.getpid()), **changes}


CASES = {
    "fastpath.process.boot_id": _elsewhere(process.boot_id),
    "fastpath.process.process_table": _elsewhere(process.process_table),
    "fastpath.process.process_start": ReaderCase(
        present=lambda *_: process.process_start(os.getpid()),
        absent=lambda *_: process.process_start(process.MOST_PID),
        unreadable=_unreadable(lambda: process.process_start(os.getpid())),
    ),
    "fastpath.process.process_since": ReaderCase(
        present=lambda *_: process.process_since(os.getpid(), _own()["process_start"]),
        absent=lambda *_: process.process_since(os.getpid(), 1),
        unreadable=lambda *_: process.process_since(os.getpid(), None),
    ),
    "fastpath.process.recorded_process": ReaderCase(
        present=lambda *_: process.recorded_process(_own()),
        absent=lambda *_: process.recorded_process(_own(process_start=1)),
        unreadable=_unreadable(lambda: process.recorded_process(_own(process_start=1))),
    ),
}
