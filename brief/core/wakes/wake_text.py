"""The prompt that wakes an idle session: its brief, what it must respect, and what it is asked for, in few bytes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from brief.core.model.brief import Brief
from brief.core.notices.alerts_block import block
from brief.core.notices.notice import Kind
from brief.core.notices.visibility import Shown
from brief.core.sessions.start_text import beside
from brief.core.text.budget import narrowed
from brief.core.text.fit_prompt import fitted_prompt, shortened, size_in_bytes
from brief.core.text.prompt import prompt
from brief.core.text.sanitize import often

MOST_BYTES = 1_500

_MOST_ALERTS = 560
_MOST_BESIDE_OWED = 420
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


def wake_text(brief: Brief, shown: Sequence[Shown], owed: Collection[str] = ()) -> str:
    """At most MOST_BYTES of UTF-8: who wakes and why, locks and what is due on the session's focus, the brief, the request.

    A client attaches nothing to a prompt of this kind, so that what the session must respect stands in it. `owed` are the
    lines of its state that tell what it waited for: where one of them stands in the text, it is asked to resume.
    """
    first = FIRST.format(often=often(brief.interval_minutes))
    binding = [one for one in shown if _is_binding(one)]
    room = MOST_BYTES - size_in_bytes(first)
    called = _called(brief, binding, room - size_in_bytes(CALL), owed) if owed else None
    return first + (_told(brief, binding, room - size_in_bytes(REQUEST)) + REQUEST if called is None else called + CALL)


def _told(brief: Brief, binding: Sequence[Shown], room: int) -> str:
    alerts = _alerts(binding, _MOST_ALERTS)
    return alerts + fitted_prompt(beside(alerts, brief), room - size_in_bytes(alerts), size_in_bytes)


def _called(brief: Brief, binding: Sequence[Shown], room: int, owed: Collection[str]) -> str | None:
    """Alerts and brief with a line that is owed, where need be with no other rows and less of the rest; None with none."""
    text = _told(brief, binding, room)
    if not _tells(text, owed):
        alerts = _alerts(binding, _MOST_BESIDE_OWED)
        state = prompt(narrowed(beside(alerts, brief), ("state",)))
        text = alerts + shortened(state, room - size_in_bytes(alerts), size_in_bytes)
    return text if _tells(text, owed) else None


def _tells(text: str, owed: Collection[str]) -> bool:
    return any(line in text for line in owed)


def _is_binding(one: Shown) -> bool:
    return one.notice.kind in (Kind.LOCK, Kind.BUG_DEP) or (one.fired and one.notice.kind is not Kind.COURTESY)


def _alerts(shown: Sequence[Shown], most: int) -> str:
    """The block in at most so many bytes; a character of another script takes three, so fewer are asked for."""
    for characters in range(most, _LEAST_ALERTS, -_STEP):
        text = block(shown, characters)
        if size_in_bytes(text) <= most:
            return text
    return block(shown, _LEAST_ALERTS)
