"""Make a brief smaller without making it say less than it knows: what is left out is counted.

A section always keeps its name, status, headline and reason; only rows and data can go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from brief.core.model import Brief, Level, Section

_URGENCY = {Level.CRITICAL: 0, Level.HIGH: 1, Level.NORMAL: 2}


def narrowed(brief: Brief, names: Collection[str]) -> Brief:
    """The brief with the rows and data of the named sections alone; with no names, as it is."""
    if not names:
        return brief
    return _with(brief, tuple(s if s.name in names else _emptied(s) for s in brief.sections))


def within(brief: Brief, size: int, rendered: Callable[[Brief], str]) -> Brief:
    """The brief with as many rows as let `rendered` give at most `size` bytes of UTF-8.

    The least urgent rows go first, and of equals the last. What no section can do without is kept even where that
    is more than `size`: a brief never hides that something was not read.
    """
    fewest, most = 0, sum(len(section.rows) for section in brief.sections)
    while fewest < most:
        tried = (fewest + most + 1) // 2
        if len(rendered(_keeping(brief, tried)).encode()) <= size:
            fewest = tried
        else:
            most = tried - 1
    return _keeping(brief, fewest)


def _keeping(brief: Brief, count: int) -> Brief:
    placed = [(section.name, at, row) for section in brief.sections for at, row in enumerate(section.rows)]
    placed.sort(key=lambda place: (_URGENCY[place[2].level], place[1]))
    kept = {(name, at) for name, at, _ in placed[:count]}
    return _with(brief, tuple(_only(section, kept) for section in brief.sections))


def _only(section: Section, kept: Collection[tuple[str, int]]) -> Section:
    rows = tuple(row for at, row in enumerate(section.rows) if (section.name, at) in kept)
    return section.model_copy(update={"rows": rows, "omitted": section.omitted + len(section.rows) - len(rows)})


def _emptied(section: Section) -> Section:
    return section.model_copy(update={"rows": (), "data": None, "omitted": section.omitted + len(section.rows)})


def _with(brief: Brief, sections: tuple[Section, ...]) -> Brief:
    return brief.model_copy(update={"sections": sections})
