"""Write YAML that the strict loader reads back unchanged, and find the place of a value in a document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from msgspec import Struct

from brief.core.model.errors import DocumentError
from brief.core.text.sanitize import to_wire
from brief.core.yaml import reader

_NOT_FINITE = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}


def spell(value: Any) -> str:
    """Write a value on one line of YAML. Text is quoted only if it would otherwise be read as something else.

    Takes None, booleans, numbers, dates, moments, text, and lists and mappings of these. Raises TypeError for the rest.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _write_text(to_wire(str(value)))  # YAML cannot represent a stray byte from a command line
    if isinstance(value, date):
        return spell_when(value)
    if isinstance(value, int | float):
        return str(value) if math.isfinite(value) else _NOT_FINITE[str(value)]
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{spell_key(key)}: {spell(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(spell, value)) + "]"
    raise TypeError(f"YAML cannot represent the type {type(value).__name__}")


def spell_key(key: str) -> str:
    """Write a key, in quotes if the loader would otherwise read it differently."""
    return key if key.isprintable() and _reads_as(f"- {key}: 0\n- {{{key}: 0}}\n", [{key: 0}] * 2) else _quote(key)


def spell_when(when: date) -> str:
    """Write a day as `2026-10-11`, a local moment as `2026-10-11 22:30`, an aware moment with its offset."""
    if not isinstance(when, datetime):
        return when.isoformat()
    if when.tzinfo:
        return when.isoformat().replace("+00:00", "Z")
    whole = when.second == when.microsecond == 0
    return when.isoformat(" ", "minutes" if whole else "auto")


def _write_text(text: str) -> str:
    return text if text.isprintable() and _reads_as(f"- {text}\n- [{text}]\n", [text, [text]]) else _quote(text)


def _reads_as(document: str, meant: object) -> bool:
    try:
        return bool(reader.load(document) == meant)
    except DocumentError:
        return False


def _quote(text: str) -> str:
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    return char if char.isprintable() else f"\\U{ord(char):08x}"


# ---------------------------------------------------------------- places in a document


class Layout(Struct, frozen=True):
    """The place of a document's top mapping, in characters from the start of the document.

    `start` is where the mapping begins, `flow` whether it is written in braces, and `values` the span of each value.
    """

    start: int
    flow: bool
    values: Mapping[str, tuple[int, int]]


def find_layout(document: str) -> Layout:
    """Find the layout of a document that the strict loader reads as a mapping."""
    import yaml as pyyaml  # noqa: PLC0415 - slow to load, and only needed to change a file

    loader: type[Any] = getattr(pyyaml, "CSafeLoader", pyyaml.SafeLoader)
    events = pyyaml.parse(document, Loader=loader)
    top: Any = next(event for event in events if isinstance(event, pyyaml.MappingStartEvent))
    return Layout(top.start_mark.index, bool(top.flow_style), dict(_find_values(events)))


def _find_values(events: Iterator[Any]) -> Iterator[tuple[str, tuple[int, int]]]:
    """The key and span of each value, from the events after the start of the top mapping."""
    for key in events:
        if type(key).__name__ == "MappingEndEvent":
            return
        first = last = next(events)
        depth = _step(first)
        while depth:
            last = next(events)
            depth += _step(last)
        # Only the loader knows the name of a key that is an alias.
        yield getattr(key, "value", ""), (first.start_mark.index, last.end_mark.index)


def _step(event: object) -> int:
    return _STEPS.get(type(event).__name__, 0)


_STEPS = {"MappingStartEvent": 1, "SequenceStartEvent": 1, "MappingEndEvent": -1, "SequenceEndEvent": -1}
"""The change in depth that each event makes, by the event's name."""
