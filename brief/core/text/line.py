"""The one line of a brief, at any width: `▲1 HIGH lock on koda · fix login 12m · peers 3 · derive free · alerts 2`.

As the line gets narrower, segments that report nothing (`peers 0`, `derive free`) go first, then what is said about the first
urgent row beside its name (who, until when). Segments that were not read go last, since a missing number must not look like a
small one. Within each group the order of importance is: the session's
own task, alerts, peers, queue, derive, mesh. Widths are terminal cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate, takewhile
from typing import Any

from msgspec import Struct

from brief.core.model.brief import Row, Section, Status, count_urgent
from brief.core.model.level import Level
from brief.core.model.section_data import (
    AlertsData,
    DeriveData,
    IntegrationData,
    MeshData,
    PeersData,
    StateData,
    TaskFact,
)
from brief.core.text.sanitize import ELLIPSIS, ago, clean, elapsed

SEPARATOR = " · "

_TITLE_CELLS = 40
_NAME_CELLS = 24
_WORDS = {"integration": "queue"}
_ASCENDING = ("mesh", "derive", "integration", "peers", "alerts", "state")
_NOTHING_THERE, _SOMETHING_THERE, _NOT_ALL_READ = 0, 10, 20


class Segment(Struct, frozen=True):
    """One sanitized piece of the line. If the line is too wide, the segment with the lowest urgency goes first."""

    text: str
    urgency: int


def compose_line(
    sections: Sequence[Section],
    now: datetime,
    columns: int | None = None,
    *,
    head_unread: str | None = None,
    is_stopped: bool = False,
) -> str:
    """Compose the line of a brief in at most `columns` terminal cells. None gives the widest form.

    `head_unread` is why the checkout's HEAD could not be read, or None. `is_stopped` is whether a person stopped the server.
    """
    normal = Level.NORMAL
    pinned = tuple(row for section in sections for row in section.rows if row.level is not normal)
    omitted = sum(section.omitted_urgent for section in sections)
    first = (("stopped", is_stopped), ("head ?", head_unread is not None))
    head = (Segment(text, _NOT_ALL_READ + len(_ASCENDING)) for text, is_so in first if is_so)
    return join_line(pinned, (*head, *segments_of(sections, now)), columns, omitted)


def join_line(pinned: tuple[Row, ...], segments: Sequence[Segment], columns: int | None, omitted: int = 0) -> str:
    """Join the pinned rows (those above NORMAL), as one piece, and the segments. Segments go first; then the piece is cut.

    `omitted` is the number of rows above NORMAL beyond `pinned`.
    """
    head, pin, details = _render_pins(pinned, omitted)
    kept = list(segments)
    whole = _join_segments(" ".join((pin, *details)), kept)
    if columns is None:
        return whole
    while count_cells(whole) > columns and (details or len(kept) > (0 if pin else 1)):
        least = min(reversed(kept), key=lambda segment: segment.urgency, default=None)
        if least is None or (details and least.urgency >= _SOMETHING_THERE):
            details.pop()
        else:
            kept.remove(least)
        whole = _join_segments(" ".join((pin, *details)), kept)
    return fit(head if pin and columns <= count_cells(head) else whole, columns)


def segments_of(sections: Sequence[Section], now: datetime) -> tuple[Segment, ...]:
    """The segments of all sections that have something to say. `now` is aware."""
    declared = [section for section in sections if section.status is not Status.UNDECLARED]
    segments = (
        segment for section in declared for segment in (_render_segment(section, now), _render_wakes(section.data))
    )
    return tuple(segment for segment in segments if segment)


def fit(text: str, columns: int) -> str:
    """Cut `text` to at most `columns` terminal cells between grapheme clusters, with `…` at the end if it was cut."""
    if columns < 1:
        return ""
    if count_cells(text) <= columns:
        return text
    from wcwidth import iter_graphemes  # noqa: PLC0415 - slow to load, and most texts fit

    # Each prefix is measured as a whole, since neighbouring graphemes can change each other's width.
    starts = accumulate(iter_graphemes(text))
    fitting = list(takewhile(lambda start: count_cells(start + ELLIPSIS) <= columns, starts))
    return (fitting[-1].rstrip() if fitting else "") + ELLIPSIS


def count_cells(text: str) -> int:
    """The width of `text` in terminal cells."""
    if text.isascii() and text.isprintable():
        return len(text)
    from wcwidth import width  # noqa: PLC0415 - slow to load, and most texts are ASCII

    return width(text, control_codes="ignore")


def _render_pins(rows: tuple[Row, ...], omitted: int) -> tuple[str, str, list[str]]:
    """The mark `▲2 HIGH` alone, the mark with the first such row, and that row's details. Empty if no row is above NORMAL."""
    first = next((row for row in rows if row.level is Level.HIGH), None)
    if first is None:
        return "", "", []
    head = f"▲{count_urgent(rows) + omitted} {first.level}"
    return head, f"{head} {clean(first.pin or first.text)}".rstrip(), [clean(one, 60) for one in first.pin_details]


def _join_segments(pin: str, segments: Sequence[Segment]) -> str:
    return SEPARATOR.join(piece for piece in (pin, *(segment.text for segment in segments)) if piece)


def _render_segment(section: Section, now: datetime) -> Segment | None:
    weight = _ASCENDING.index(section.name)
    described = _describe_data(section.data, now)
    if described is None:
        return Segment(f"{_WORDS.get(section.name, section.name)} ?", _NOT_ALL_READ + weight)
    text, there = described
    if section.status is Status.PARTIAL:
        return Segment(f"{text or section.name}{ELLIPSIS}?", _NOT_ALL_READ + weight)
    return Segment(text, (_SOMETHING_THERE if there else _NOTHING_THERE) + weight) if text else None


def _render_wakes(data: Any) -> Segment | None:
    """What prevents wakes that the policy asks for. A stop by Esc is the person's own doing and is not mentioned."""
    match data:
        case StateData(wakes="paused"):
            return Segment("wakes paused", _SOMETHING_THERE)
        case StateData(wakes="limit"):
            return Segment("wake limit reached", _SOMETHING_THERE)
    return None


def _describe_data(data: Any, now: datetime) -> tuple[str, bool] | None:
    """The text of a section's data in the line, and whether it reports anything. None if there is no data."""
    match data:
        case StateData(task=TaskFact(title=title, since=since)):
            return (f"{fit(clean(title), _TITLE_CELLS) or 'task'} {elapsed(now - since)}", True)
        case StateData():
            return "", False
        case PeersData(count=count):
            return f"peers {count}", count > 0
        case MeshData(links=links):
            return f"mesh {len(links)}", bool(links)
        case IntegrationData(open=waiting):
            aged = f" {ago(now - data.observed_at)}" if data.stale else ""
            return f"queue {waiting}{_render_next(data)}{aged}", waiting > 0
        case DeriveData(state=state):
            return f"derive {state}", state != "free"
        case AlertsData(shown=shown):
            return f"alerts {len(shown)}", bool(shown)
    return None


def _render_next(data: IntegrationData) -> str:
    if data.next is None:
        return ""
    number = next((entry.number for entry in data.queue if entry.name == data.next), None)
    return f", next {fit(clean(data.next), _NAME_CELLS) if number is None else f'#{number}'}"
