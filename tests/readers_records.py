"""The reader of what a client records of its session."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from brief.sessions.client_records import read_record
from reader_case import ReaderCase

_RECORD = {"pid": 7, "sessionId": "a", "cwd": "/r", "startedAt": 1, "procStart": "1"}


def _present(folder: Path, _: pytest.MonkeyPatch) -> Any:
    (folder / "7.json").write_text(json.dumps(_RECORD))
    return read_record(f"{folder}/7.json")


def _absent(folder: Path, _: pytest.MonkeyPatch) -> Any:
    return read_record(f"{folder}/7.json")


def _unreadable(folder: Path, _: pytest.MonkeyPatch) -> Any:
    """A pipe is no file to wait for."""
    os.mkfifo(folder / "7.json")
    return read_record(f"{folder}/7.json")


CASES = {"sessions.client_records.read_record": ReaderCase(_present, _absent, _unreadable)}
