"""The derive section: the lock that lets one checkout at a time run a command that all of them share."""

from __future__ import annotations

from brief.core.model.brief import DeriveSection, Row, Status
from brief.core.model.section_data import DeriveData
from brief.core.model.wire import to_plain
from brief.core.text.sanitize import clean
from brief.derive.lock_state import DeriveState, read_lock
from brief.sections.context import SectionContext, SectionQuery


def answer(context: SectionContext, query: SectionQuery) -> DeriveSection:  # noqa: ARG001 - all readers alike
    """Whether the lock is free, or who holds it, as the kernel says at this moment."""
    found = read_lock(context.state_dir)
    return DeriveSection(
        status=Status.READ if found.reason is None or found.state == "stale" else Status.PARTIAL,
        headline=_make_headline(found),
        rows=(Row(text=clean(found.reason)),) if found.reason else (),
        data=DeriveData(
            state=found.state,
            holder=to_plain(found.holder) if found.holder else None,
            waiting=found.waiting,
        ),
        reason=found.reason if found.reason is not None and found.state != "stale" else None,
        as_of=context.now(),
    )


def _make_headline(found: DeriveState) -> str:
    if found.state == "free":
        return "free"
    waiting = f", {found.waiting} waiting" if found.waiting else ""
    by = f" by {clean(found.holder.checkout, 80)}, {clean(found.holder.command, 80)}" if found.holder else ""
    return f"{found.state}{by}{waiting}"
