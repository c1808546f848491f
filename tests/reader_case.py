"""The three cases that `test_readers.py` tries for each reader. The files `readers_*.py` list them by the reader's name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

Call = Callable[[Path, pytest.MonkeyPatch], Any]
"""Arrange the source in an empty folder, call the reader, and return its answer."""


class ReaderCase(NamedTuple):
    """One call for each state of the source: present, absent, and present but unreadable."""

    present: Call
    absent: Call
    unreadable: Call
