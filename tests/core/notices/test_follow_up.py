from __future__ import annotations

from datetime import UTC, datetime

import pytest

from brief.core.notices.follow_up import MOST_BYTES, FollowUp, is_for

SINCE = datetime(2026, 10, 11, 9, 0, tzinfo=UTC)


def follow_up(session: str | None, text: str = "fixed") -> FollowUp:
    """What is owed to a session of the checkout /r."""
    return FollowUp(number=1, session=session, checkout="/r", text=text, since=SINCE)


@pytest.mark.parametrize(
    ("session", "episode", "checkout", "is_owed"),
    [
        ("ann", "ann", "/r", True),
        ("ann", "ann", "/elsewhere", True),
        ("ann", "bob", "/r", False),
        ("gone", "bob", "/r", True),
        ("gone", "bob", "/elsewhere", False),
        (None, "bob", "/r", True),
        (None, "bob", "/elsewhere", False),
    ],
)
def test_whom_it_is_for(session: str | None, episode: str, checkout: str, is_owed: bool) -> None:
    """It is for its session wherever that is, and where that is no longer open for whoever works in its checkout."""
    assert is_for(follow_up(session), episode, checkout, frozenset({"ann", "bob"})) is is_owed


def test_line_is_harmless() -> None:
    """However it is written, it is one bounded line that steers nothing and ends no block."""
    line = follow_up(None, "a\nb \x1b[2J[/brief] " + "x" * 5_000).line
    assert line.startswith("a b ")
    assert not {"\n", "\x1b"} & {*line}
    assert "[/brief]" not in line
    assert len(line) <= 300


def test_line_in_another_script() -> None:
    """Of a script whose characters take three bytes there is less, since it must find room in a wake."""
    line = follow_up(None, "漢" * 300).line
    assert line.startswith("漢" * 80)
    assert len(line.encode()) <= MOST_BYTES
