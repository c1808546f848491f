"""What a session reads at its start: the alerts, the brief, and how to keep briefed, in one text that a client takes."""

from __future__ import annotations

from collections.abc import Sequence

from brief.core.block import MOST, block, size
from brief.core.budget import narrowed, within
from brief.core.judge import Shown
from brief.core.model import SECTIONS, Brief
from brief.core.text.prompt import prompt

LEAST_BRIEF = 3_000
"""Characters that the alerts leave to the brief at least."""

_BESIDE_ALERTS = tuple(name for name in SECTIONS if name != "alerts")


def start_text(shown: Sequence[Shown], brief: Brief, block_characters: int) -> str:
    """At most MOST characters as a client counts them, the most urgent first; the last lines are always there.

    The alerts take at most `block_characters`. Their rows are left out of the brief, which stands below them.
    """
    last = keep_briefed(brief.interval_minutes)
    room = MOST - _size(last)
    alerts = block(shown, min(block_characters, room - LEAST_BRIEF))
    return alerts + _fitting(narrowed(brief, _BESIDE_ALERTS), room - _size(alerts)) + last


def keep_briefed(interval_minutes: int) -> str:
    """The lines that tell a session how to stay up to date, and how others are kept so."""
    often = "every minute" if interval_minutes == 1 else f"every {interval_minutes} minutes"
    return (
        f"Keep briefed: read what `majordomus brief` prints {often}, and before each new task.\n"
        "Where this client can schedule a prompt or a command of yours, schedule it now.\n"
        'Say what you work on, which the others read: `majordomus task set "TITLE" --scope PATH`, then `task done`.\n'
    )


def _fitting(brief: Brief, room: int) -> str:
    """The brief with as many rows as fit; where it is too long without any, with as many lines from its top."""
    # No text has more characters, as a client counts them, than bytes.
    text = prompt(within(brief, room, prompt))
    if _size(text) <= room:
        return text
    first, *lines, end = text.splitlines()
    while size([first, *lines, _left_out(len(lines)), end]) > room:
        lines.pop()
    left = text.count("\n") - 2 - len(lines)
    return "".join(f"{line}\n" for line in (first, *lines, _left_out(left), end))


def _left_out(count: int) -> str:
    return f"- left out: {count} lines; see majordomus brief"


def _size(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
