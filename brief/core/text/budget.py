"""Shorten a brief, and count what is left out.

A section always keeps its name, status, headline and reason. Only rows and data can be dropped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection

from brief.core.model.brief import Brief, Section
from brief.core.model.level import URGENCY


def narrow_to(brief: Brief, names: Collection[str]) -> Brief:
    """The brief with rows and data in the named sections only. Without names it is unchanged."""
    if not names:
        return brief
    return _with(brief, tuple(s if s.name in names else _empty(s) for s in brief.sections))


def fit_budget(brief: Brief, size: int, rendered: Callable[[Brief], str]) -> Brief:
    """The brief with as many rows as fit if `rendered` may give at most `size` bytes of UTF-8.

    The least urgent rows go first, and among equals the last one. The fixed parts of every section stay even if they exceed
    `size`: a brief never hides that something was not read.
    """
    order = _by_urgency(brief)

    def is_over(count: int) -> bool:
        return len(rendered(_keep_only(brief, order[:count])).encode()) > size

    # Each added row makes the brief longer, except the last row of a section, which removes the line of omitted rows.
    whole_from = {name: count for count, (name, _) in enumerate(order, 1)}
    starts = sorted({0, *whole_from.values()}, reverse=True)
    start = next((count for count in starts if not is_over(count)), 0)
    end = min((count for count in starts if count > start), default=start + 1)
    most = bisect_left(range(start + 1, end), x=True, key=is_over)
    return _keep_only(brief, order[: start + most])


_Place = tuple[str, int]
"""The place of a row: the name of its section, and its index there."""


def _by_urgency(brief: Brief) -> list[_Place]:
    placed = [(row.level, at, section.name) for section in brief.sections for at, row in enumerate(section.rows)]
    placed.sort(key=lambda place: (URGENCY[place[0]], place[1]))
    return [(name, at) for _, at, name in placed]


def _keep_only(brief: Brief, kept: Collection[_Place]) -> Brief:
    places = frozenset(kept)
    return _with(brief, tuple(_keep_rows(section, places) for section in brief.sections))


def _keep_rows(section: Section, kept: frozenset[_Place]) -> Section:
    rows = tuple(row for at, row in enumerate(section.rows) if (section.name, at) in kept)
    return section.keep_rows(rows)


def _empty(section: Section) -> Section:
    return section.keep_rows(()).replace(data=None)


def _with(brief: Brief, sections: tuple[Section, ...]) -> Brief:
    return brief.replace(sections=sections)
