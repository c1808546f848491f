"""Cases for the reader of a client's record of its session."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from brief.sessions.client_records import SeenSessions
from reader_case import ReaderCase

_RECORD = {"pid": 7, "sessionId": "a", "cwd": "/r", "startedAt": 1, "procStart": "1"}


def _present(folder: Path, _: pytest.MonkeyPatch) -> Any:
    (folder / "7.json").write_text(json.dumps(_RECORD))
    return SeenSessions(str(folder)).record("7.json", None)


def _absent(folder: Path, _: pytest.MonkeyPatch) -> Any:
    return SeenSessions(str(folder)).record("7.json", None)


def _unreadable(folder: Path, _: pytest.MonkeyPatch) -> Any:
    """A pipe is not waited for."""
    os.mkfifo(folder / "7.json")
    return SeenSessions(str(folder)).record("7.json", None)


CASES = {"sessions.client_records.SeenSessions.record": ReaderCase(_present, _absent, _unreadable)}
