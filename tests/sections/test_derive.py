"""The derive section: the lock, as the kernel says at this moment."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from brief.core.model.brief import DeriveSection, Status
from brief.core.model.section_data import DeriveData
from brief.sections.derive import answer
from samples import NOW, ask, context

HOSTILE = "/a\x1b[31mb\u202e"


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Hold the lock until the end of the test."""
    descriptor = os.open(tmp_path / "derive.lock", os.O_RDWR | os.O_CREAT)
    yield lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)


def name(tmp_path: Path, waiting: int = 0, **holder: Any) -> None:
    """Write who holds the lock, and how many wait."""
    known = {"episode": "e1", "pid": 7, "checkout": "/a", "command": "make", "since": NOW.isoformat()}
    (tmp_path / "derive.json").write_text(json.dumps({"holder": {**known, **holder}, "waiting": waiting}))


def asked(tmp_path: Path) -> DeriveSection:
    """The derive section for a state folder."""
    return answer(context(state_dir=str(tmp_path)), ask())


def test_free(tmp_path: Path) -> None:
    """A lock that was never taken is read as free, with nobody waiting."""
    found = asked(tmp_path)
    assert (found.status, found.headline, found.rows) == (Status.READ, "free", ())
    assert found.data == DeriveData(state="free", holder=None, waiting=0)


def test_held(tmp_path: Path, held: Callable[[], None]) -> None:
    """It names the holder, its command and the number waiting; names are verbatim in data, sanitized in the headline."""
    held()
    name(tmp_path, waiting=2, checkout=HOSTILE, command=HOSTILE)
    found = asked(tmp_path)
    assert (found.status, found.headline) == (Status.READ, "held by /ab, /ab, 2 waiting")
    assert found.data is not None
    assert found.data.state == "held"
    assert found.data.holder is not None
    assert (found.data.holder["checkout"], found.data.holder["since"]) == (HOSTILE, "2026-03-05T12:00:00Z")


def test_stale(tmp_path: Path, held: Callable[[], None]) -> None:
    """A name without a lock is not a holder: the section is read in full and says that the name is stale, and why."""
    name(tmp_path)
    found = asked(tmp_path)
    assert (found.status, found.headline, found.reason) == (Status.READ, "stale by /a, make", None)
    assert [row.text for row in found.rows] == [
        "nobody holds derive.lock, but derive.json still names process 7, which did not finish"
    ]


def test_held_by_somebody_unnamed(tmp_path: Path, held: Callable[[], None]) -> None:
    """If the kernel says held but the holder is unknown, the section is partial, with the reason."""
    held()
    (tmp_path / "derive.json").write_text("{")
    found = asked(tmp_path)
    assert (found.status, found.headline) == (Status.PARTIAL, "held")
    assert "cannot be understood" in (found.reason or "")


def test_free_with_a_file_that_says_nothing(tmp_path: Path) -> None:
    """With a damaged derive.json it is unknown who waits, which is not zero: the section is partial."""
    (tmp_path / "derive.json").mkdir()
    assert asked(tmp_path).status is Status.PARTIAL
