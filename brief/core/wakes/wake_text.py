"""The prompt that wakes an idle session: its brief, the notices it must respect, and a request, in few bytes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from brief.core.model.brief import Brief
from brief.core.notices.alerts_block import render_block
from brief.core.notices.notice import Kind
from brief.core.notices.visibility import Shown
from brief.core.sessions.start_text import without_shown_above
from brief.core.text.budget import narrow_to
from brief.core.text.fit_prompt import fit_prompt, shorten
from brief.core.text.prompt import render_prompt
from brief.core.text.sanitize import every
from brief.core.text.size import size_in_bytes

MOST_BYTES = 1_500

_MOST_ALERTS = 560
_MOST_BESIDE_FOLLOW_UP = 420
_LEAST_ALERTS = 320
_STEP = 20

FIRST = "Majordomus, not the user: this session is idle, and its repository has it briefed {often}.\n"
REQUEST = (
    "Report in two to four lines which of this concerns your work, what you would do next, and what stops you. "
    "Then wait; change nothing for this report.\n"
)
RESUME = (
    "What this session waits for is done; its state above names it. Update, and resume what waited for it. "
    "Report in two to four lines what you did and what comes next.\n"
)


def wake_text(brief: Brief, shown: Sequence[Shown], follow_ups: Collection[str] = ()) -> str:
    """The prompt, at most MOST_BYTES of UTF-8: who wakes the session and why, binding notices, the brief, the request.

    Clients attach nothing to such a prompt, so it holds by itself what the session must respect. `follow_ups` are the lines
    of the session's follow-ups. If the text contains one of them, it asks the session to resume.
    """
    first = FIRST.format(often=every(brief.interval_minutes))
    binding = [one for one in shown if _is_binding(one)]
    room = MOST_BYTES - size_in_bytes(first)
    resuming = _fit_follow_up(brief, binding, room - size_in_bytes(RESUME), follow_ups) if follow_ups else None
    if resuming is not None:
        return first + resuming + RESUME
    return first + _alerts_and_brief(brief, binding, room - size_in_bytes(REQUEST)) + REQUEST


def _alerts_and_brief(brief: Brief, binding: Sequence[Shown], room: int) -> str:
    alerts = _fit_alerts(binding, _MOST_ALERTS)
    return alerts + fit_prompt(without_shown_above(alerts, brief), room - size_in_bytes(alerts), size_in_bytes)


def _fit_follow_up(brief: Brief, binding: Sequence[Shown], room: int, follow_ups: Collection[str]) -> str | None:
    """Alerts and brief with a line of `follow_ups`, if need be without other rows and with less of the rest.

    None if no such line fits.
    """
    text = _alerts_and_brief(brief, binding, room)
    if not _contains_any(text, follow_ups):
        alerts = _fit_alerts(binding, _MOST_BESIDE_FOLLOW_UP)
        state = render_prompt(narrow_to(without_shown_above(alerts, brief), ("state",)))
        text = alerts + shorten(state, room - size_in_bytes(alerts), size_in_bytes)
    return text if _contains_any(text, follow_ups) else None


def _contains_any(text: str, lines: Collection[str]) -> bool:
    return any(line in text for line in lines)


def _is_binding(one: Shown) -> bool:
    return one.notice.kind in (Kind.LOCK, Kind.BUG_DEP) or (one.fired and one.notice.kind is not Kind.COURTESY)


def _fit_alerts(shown: Sequence[Shown], most: int) -> str:
    """The alerts block in at most `most` bytes. Some scripts take three bytes a character, so fewer are tried."""
    for characters in range(most, _LEAST_ALERTS, -_STEP):
        text = render_block(shown, characters)
        if size_in_bytes(text) <= most:
            return text
    return render_block(shown, _LEAST_ALERTS)
