from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brief.core.model.section_data import QueueEntry
from brief.integration.observation import Observation, ObservationError, read

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def entry(name: str) -> QueueEntry:
    """A branch that is ready."""
    return QueueEntry(
        name=name,
        number=None,
        lane="local",
        disposition="ready",
        conflicts_with=None,
        ahead=1,
        behind=0,
        committed_at=NOW,
        worktree=None,
    )


def observation(*names: str, omitted: int = 0) -> Observation:
    """An observation of branches that are ready."""
    entries = tuple(map(entry, names))
    return Observation(
        observed_at=NOW, base="main", base_sha="a" * 40, provider="git", entries=entries, omitted=omitted
    )


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """An observation survives its file, bidirectional marks and all, and the file names its schema."""
    path = tmp_path / "majordomus/observation.json"
    made = observation("evil-\u202etopic", "b", omitted=3)
    made.write(str(path))
    assert read(str(path)) == made
    assert json.loads(path.read_bytes())["schema"] == "majordomus.observation/v1"


def test_never_observed_is_none(tmp_path: Path) -> None:
    """No file is not an error: the branches were never read."""
    assert read(str(tmp_path / "observation.json")) is None


def test_the_brief_counts_what_was_omitted(tmp_path: Path) -> None:
    """The section's data counts every branch ahead, and the next one is the first in merge order."""
    data = observation("a", "b", omitted=3).as_data()
    assert (data.open, data.next, data.observed_at) == (5, "a", NOW)
    assert observation().as_data().next is None


def test_every_cut_of_the_file_is_a_sentence(tmp_path: Path) -> None:
    """A truncated file is named, with the command that makes a new one."""
    path = tmp_path / "observation.json"
    observation("a").write(str(path))
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(
            ObservationError, match=r"observation\.json is not an observation .* majordomus queue refresh"
        ):
            read(str(path))


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "majordomus.observation/v2"},
        {"schema": None},
        {"observed_at": "2026-01-02T03:04:05"},
        {"omitted": -1},
        {"provider": "svn"},
        {"entries": [{"name": "a"}]},
    ],
)
def test_a_foreign_or_newer_file_is_a_sentence_that_names_the_field(tmp_path: Path, change: dict[str, object]) -> None:
    """Another schema, a time without a zone, and a wrong value are errors that name the field."""
    path = tmp_path / "observation.json"
    observation().write(str(path))
    path.write_text(json.dumps(json.loads(path.read_bytes()) | change))
    with pytest.raises(ObservationError, match=rf"not an observation \({next(iter(change))}"):
        read(str(path))


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b"\xff\xfe", b'{"schema": 3}', b"[" * 100_000, b"1e999"])
def test_rubbish_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    """Anything else in its place is refused and not taken for an empty queue."""
    path = tmp_path / "observation.json"
    path.write_bytes(content)
    with pytest.raises(ObservationError, match="is not an observation"):
        read(str(path))


def test_what_is_no_file_is_a_sentence(tmp_path: Path) -> None:
    """A pipe in its place does not block."""
    path = tmp_path / "observation.json"
    os.mkfifo(path)
    with pytest.raises(ObservationError, match=r"observation\.json is not a regular file, so nothing is read"):
        read(str(path))


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    """The error names the path and the system's reason."""
    (tmp_path / "majordomus").write_text("in the way")
    with pytest.raises(ObservationError, match=r"cannot be written to .*observation\.json: "):
        observation().write(str(tmp_path / "majordomus/observation.json"))
