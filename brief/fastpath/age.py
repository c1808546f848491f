"""How long ago something was, by the time that is stored with it.

That time may lie ahead of this clock: one of the two was moved, or the file comes from another machine. Then nobody knows
the age, and it is not taken for a small one.
"""

from __future__ import annotations

SKEW_SECONDS = 60
"""By how much clocks and file systems may differ with no fault in either."""

UNKNOWN_SPAN = "?"
UNKNOWN_AGO = "an unknown time ago"

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def is_ahead(seconds: float) -> bool:
    """Whether an age in seconds is that of something from the future."""
    return seconds < -SKEW_SECONDS


def elapsed(seconds: float) -> str:
    """An age in one short word, rounded down: `12m`, from an hour on `3h`, from two days on `2d`; `?` from the future."""
    return UNKNOWN_SPAN if is_ahead(seconds) else span(seconds)


def ago(seconds: float) -> str:
    """An age as it stands in a sentence: `just now`, `12m ago`, `an unknown time ago`."""
    if is_ahead(seconds):
        return UNKNOWN_AGO
    return f"{span(seconds)} ago" if seconds >= _MINUTE else "just now"


def span(seconds: float) -> str:
    """A span of time in one short word, rounded down; a negative one, as of what is overdue, is `0m`."""
    if seconds < _HOUR:
        return f"{max(0, int(seconds // _MINUTE))}m"
    return f"{int(seconds // _HOUR)}h" if seconds < 2 * _DAY else f"{int(seconds // _DAY)}d"
