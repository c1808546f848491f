"""The prompt that wakes an idle session: its brief, what it must respect, and what it is asked for, in few bytes."""

from __future__ import annotations

from collections.abc import Sequence

from brief.core.block import block
from brief.core.fitting import fitted_prompt, size_in_bytes
from brief.core.judge import Shown
from brief.core.model import Brief
from brief.core.notice import Kind
from brief.core.start import beside, often

MOST_BYTES = 1_500

_MOST_ALERTS = 560
_LEAST_ALERTS = 320
_STEP = 20

FIRST = "Majordomus, not the user: this session is idle, and its repository has it briefed {often}.\n"
REQUEST = (
    "Report in two to four lines: what of this concerns your work, what you would do next, and what keeps you from it. "
    "Change nothing for this, and wait then.\n"
)
CALL = (
    "What this session waits for is done, as its state above says: update, and resume what waited for it. "
    "Report in two to four lines what you did and what comes next.\n"
)


def wake_text(brief: Brief, shown: Sequence[Shown], *, called: bool = False) -> str:
    """At most MOST_BYTES of UTF-8: who wakes and why, locks and what is due on the session's focus, the brief, the request.

    A client attaches nothing to a prompt of this kind, so that what the session must respect stands in it. `called` is
    whether the session is owed something that it waits for, and that its state tells.
    """
    request = CALL if called else REQUEST
    first = FIRST.format(often=often(brief.interval_minutes))
    alerts = _alerts([one for one in shown if _is_binding(one)])
    room = MOST_BYTES - size_in_bytes(first + alerts + request)
    return first + alerts + fitted_prompt(beside(alerts, brief), room, size_in_bytes) + request


def _is_binding(one: Shown) -> bool:
    return one.notice.kind in (Kind.LOCK, Kind.BUG_DEP) or (one.fired and one.notice.kind is not Kind.COURTESY)


def _alerts(shown: Sequence[Shown]) -> str:
    """The block in at most _MOST_ALERTS bytes; a character of another script takes three, so fewer are asked for."""
    for characters in range(_MOST_ALERTS, _LEAST_ALERTS, -_STEP):
        text = block(shown, characters)
        if size_in_bytes(text) <= _MOST_ALERTS:
            return text
    return block(shown, _LEAST_ALERTS)
