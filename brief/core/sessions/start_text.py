"""The text that a session reads at its start: alerts, brief, and how to keep briefed, within a client's limit."""

from __future__ import annotations

from collections.abc import Sequence

from brief.core.model.brief import SECTIONS, Brief, Section
from brief.core.model.level import Level
from brief.core.model.section_data import AlertsData, ShownNotice
from brief.core.notices.alerts_block import MOST, render_block
from brief.core.notices.visibility import Shown
from brief.core.text.budget import narrow_to
from brief.core.text.fit_prompt import fit_prompt
from brief.core.text.sanitize import every
from brief.core.text.size import utf16_units

LEAST_BRIEF = 3_000
"""The least number of characters that the alerts leave to the brief."""

BESIDE_ALERTS = tuple(name for name in SECTIONS if name != "alerts")
"""The sections whose rows are kept in a brief below an alerts block."""


def prompt_text(shown: Sequence[Shown], brief: Brief, block_characters: int) -> str:
    """The text that a person's prompt carries: like `start_text`, without the last lines on how to keep briefed."""
    return _compose_text(shown, brief, block_characters, "")


def start_text(shown: Sequence[Shown], brief: Brief, block_characters: int, *, is_woken: bool) -> str:
    """The text in at most MOST characters as a client counts them, the most urgent first, always with its last lines.

    The alerts take at most `block_characters`. The brief below them leaves out their rows. `is_woken` is whether the
    session will be woken with its brief.
    """
    return _compose_text(shown, brief, block_characters, keep_briefed(brief.interval_minutes, is_woken=is_woken))


def without_shown_above(alerts: str, brief: Brief) -> Brief:
    """The brief without the rows of its alerts. Notices in the block `alerts` do not count as omitted."""
    whole = next(section for section in brief.sections if section.name == "alerts")
    shown = whole.data.shown if isinstance(whole.data, AlertsData) else ()
    above = [one for one in shown if f"({one.slug})" in alerts]
    narrow = narrow_to(brief, BESIDE_ALERTS)
    left = tuple(
        _without_those_above(section, above, len(shown)) if section.name == "alerts" else section
        for section in narrow.sections
    )
    return narrow.replace(sections=left)


def _without_those_above(section: Section, above: Sequence[ShownNotice], shown: int) -> Section:
    if not above:
        return section
    urgent = sum(one.level is not Level.NORMAL for one in above)
    place = "listed above" if len(above) == shown else f"{len(above)} of them listed above"
    return section.replace(
        headline=f"{section.headline}, {place}",
        omitted=max(0, section.omitted - len(above)),
        omitted_urgent=max(0, section.omitted_urgent - urgent),
    )


def _compose_text(shown: Sequence[Shown], brief: Brief, block_characters: int, last: str) -> str:
    room = MOST - utf16_units(last)
    alerts = render_block(shown, min(block_characters, room - LEAST_BRIEF))
    return alerts + fit_prompt(without_shown_above(alerts, brief), room - utf16_units(alerts), utf16_units) + last


def keep_briefed(interval_minutes: int, *, is_woken: bool) -> str:
    """The lines on how the session stays up to date, and how it keeps others so.

    It is asked to report by itself only if nothing will wake it.
    """
    return (
        f"{_woken_text(interval_minutes) if is_woken else _unwoken_text(interval_minutes)}"
        'Tell the other sessions what you work on: `majordomus task set "TITLE" --scope PATH`, then `task done`.\n'
    )


def _woken_text(interval_minutes: int) -> str:
    return (
        f"Keep briefed: while idle, this session is woken with its brief {every(interval_minutes)}. "
        "Before each new task, read the output of `majordomus brief`.\n"
    )


def _unwoken_text(interval_minutes: int) -> str:
    return (
        f"Keep briefed: {every(interval_minutes)}, report to the user what `majordomus brief` prints, and read it before "
        "each new task.\n"
        "If this client can schedule a prompt or command for you, schedule that report now.\n"
    )
