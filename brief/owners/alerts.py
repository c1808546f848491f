"""The notices that sessions leave each other: how many of which kind, and which files could not be read."""

from __future__ import annotations

import os
from collections import Counter

from brief.core.model import AlertsData, AlertsSection, Level, Row, ShownNotice, Status, Unparsable
from brief.core.notice import Notice
from brief.core.text.sanitize import clean, wire
from brief.notices.store import Shelf
from brief.owners.world import Ask, World

_PLURAL = {"courtesy": "courtesies"}


def answer(world: World, ask: Ask) -> AlertsSection:
    """Every active notice of the folders, the highest priority first; partial where a file or folder was unreadable."""
    shelf = world.notices(notice_folders(world.state_dir, ask))
    shown = sorted((n for n in shelf.notices if n.status == "active"), key=lambda n: (-n.priority, n.slug))
    for_all = [notice for notice in shown if notice.audience == "all"]
    reason = _unreadable(shelf)
    return AlertsSection(
        status=Status.PARTIAL if reason else Status.READ,
        headline=_headline(for_all),
        rows=(*_rows(for_all), *_unreadable_rows(shelf)),
        data=AlertsData(
            shown=tuple(_shown(notice) for notice in for_all),
            hidden=len(shelf.notices) - len(for_all),
            unparsable=tuple(Unparsable(file=wire(file), reason=why) for file, why in shelf.unparsable),
        ),
        reason=reason,
        as_of=world.now(),
    )


def notice_folders(state_dir: str, ask: Ask) -> tuple[str, ...]:
    """The folder of the repository, then those of the policy, relative ones below the checkout."""
    declared = (os.path.join(ask.root, folder) for folder in ask.settings.alerts.folders)
    return (os.path.join(state_dir, "notices"), *declared)


def _shown(notice: Notice) -> ShownNotice:
    return ShownNotice(slug=notice.slug, kind=notice.kind, priority=notice.priority, title=notice.title, countdown=None)


def _headline(shown: list[Notice]) -> str:
    if not shown:
        return "no notices"
    kinds = Counter(notice.kind for notice in shown)
    told = ", ".join(
        f"{count} {kind if count == 1 else _PLURAL.get(kind, kind + 's')}" for kind, count in kinds.items()
    )
    return f"{len(shown)} notice{'' if len(shown) == 1 else 's'}: {told}"


def _rows(shown: list[Notice]) -> list[Row]:
    return [_row(notice) for notice in shown]


def _row(notice: Notice) -> Row:
    about = f"{notice.kind} on {clean(notice.component, 40)}" if notice.component else notice.kind
    text = f"{about}: {clean(notice.title, 120)} ({clean(notice.slug, 80)})"
    if notice.kind != "lock":
        return Row(text=text)
    return Row(text=text, level=Level.HIGH, pin=about)


def _unreadable(shelf: Shelf) -> str | None:
    said = []
    if shelf.unparsable:
        count = len(shelf.unparsable)
        said.append(f"{count} notice file{'' if count == 1 else 's'} could not be read")
    if shelf.folders_unread:
        said.append("; ".join(f"{clean(wire(str(folder)))}: {why}" for folder, why in shelf.folders_unread))
    return "; ".join(said) or None


def _unreadable_rows(shelf: Shelf) -> list[Row]:
    return [Row(text=f"unreadable: {clean(wire(file), 120)}: {clean(why)}") for file, why in shelf.unparsable]
