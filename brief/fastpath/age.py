"""Ages in short words, computed from a stored time.

A stored time may lie ahead of this clock, if either was moved or the file comes from another machine. Its age is then
unknown, and never treated as small.
"""

from __future__ import annotations

SKEW_SECONDS = 60
"""How far clocks and file systems may differ without either being wrong."""

UNKNOWN_SPAN = "?"
UNKNOWN_AGO = "an unknown time ago"

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def is_ahead(seconds: float) -> bool:
    """Whether an age in seconds lies in the future."""
    return seconds < -SKEW_SECONDS


def elapsed(seconds: float) -> str:
    """An age in one short word, rounded down: `12m`, `3h` from one hour, `2d` from two days, `?` if in the future."""
    return UNKNOWN_SPAN if is_ahead(seconds) else span(seconds)


def ago(seconds: float) -> str:
    """An age as part of a sentence: `just now`, `12m ago`, `an unknown time ago`."""
    if is_ahead(seconds):
        return UNKNOWN_AGO
    return f"{span(seconds)} ago" if seconds >= _MINUTE else "just now"


def span(seconds: float) -> str:
    """A span of time in one short word, rounded down. A negative span, such as one overdue, is `0m`."""
    if seconds < _HOUR:
        return f"{max(0, int(seconds // _MINUTE))}m"
    return f"{int(seconds // _HOUR)}h" if seconds < 2 * _DAY else f"{int(seconds // _DAY)}d"
