"""Three calls of one reader, as `test_readers.py` tries them; `readers_AREA.py` beside this file holds them by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

Call = Callable[[Path, pytest.MonkeyPatch], Any]
"""Arrange the source in an empty folder, call the reader, and return its answer."""


class ReaderCase(NamedTuple):
    """The source is present, absent, or there but unreadable."""

    present: Call
    absent: Call
    unreadable: Call
