from __future__ import annotations

import pytest

from brief.fastpath.age import ago, elapsed, is_ahead, span


@pytest.mark.parametrize(
    ("seconds", "told", "short"),
    [
        (-61, "an unknown time ago", "?"),
        (-60, "just now", "0m"),
        (0, "just now", "0m"),
        (59.9, "just now", "0m"),
        (60, "1m ago", "1m"),
        (3_600, "1h ago", "1h"),
        (47.9 * 3_600, "47h ago", "47h"),
        (48 * 3_600, "2d ago", "2d"),
    ],
)
def test_an_age_from_the_future_is_unknown(seconds: float, told: str, short: str) -> None:
    """Ages are rounded down; what lies ahead of the clock, by more than clocks differ, has none."""
    assert (ago(seconds), elapsed(seconds), is_ahead(seconds)) == (told, short, short == "?")


def test_a_span_that_is_overdue_is_over() -> None:
    """A span that is over is zero, however long ago it ended."""
    assert span(-86_400) == "0m"
