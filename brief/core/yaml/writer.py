"""YAML written so that the strict loader reads back the same values, and found in a text so that it can be changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from brief.core.model.errors import DocumentError
from brief.core.text.sanitize import wire
from brief.core.yaml import reader

_NOT_FINITE = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}


def spell(value: Any) -> str:
    """A value on one line of YAML. Text gets quotes only where it would be read as something else without them.

    None, truth values, numbers, days, moments, text, and lists and mappings of these; raises TypeError for all else.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(wire(str(value)))  # a stray byte of a command line has no spelling in YAML
    if isinstance(value, date):
        return spell_when(value)
    if isinstance(value, int | float):
        return str(value) if math.isfinite(value) else _NOT_FINITE[str(value)]
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{spell_key(key)}: {spell(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(spell, value)) + "]"
    raise TypeError(f"{type(value).__name__} has no spelling in YAML")


def spell_key(key: str) -> str:
    """A key, in quotes where the loader would not read it as this text."""
    return key if key.isprintable() and _reads(f"- {key}: 0\n- {{{key}: 0}}\n", [{key: 0}] * 2) else _quoted(key)


def spell_when(when: date) -> str:
    """A day as `2026-10-11`, a local moment as `2026-10-11 22:30`, a moment of a zone with its offset."""
    if not isinstance(when, datetime):
        return when.isoformat()
    if when.tzinfo:
        return when.isoformat().replace("+00:00", "Z")
    whole = when.second == when.microsecond == 0
    return when.isoformat(" ", "minutes" if whole else "auto")


def _text(text: str) -> str:
    return text if text.isprintable() and _reads(f"- {text}\n- [{text}]\n", [text, [text]]) else _quoted(text)


def _reads(document: str, meant: object) -> bool:
    try:
        return bool(reader.load(document) == meant)
    except DocumentError:
        return False


def _quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    return char if char.isprintable() else f"\\U{ord(char):08x}"


# ---------------------------------------------------------------- where a mapping stands in its text


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the top mapping of a document stands: characters from its start.

    `start` is where the mapping begins, `flow` whether it is written in braces, `values` the span of each value.
    """

    start: int
    flow: bool
    values: Mapping[str, tuple[int, int]]


def layout(document: str) -> Layout:
    """The layout of a document that the strict loader reads as a mapping."""
    import yaml as pyyaml  # noqa: PLC0415 - slow to load, and only a change of a file needs it

    loader: type[Any] = getattr(pyyaml, "CSafeLoader", pyyaml.SafeLoader)
    events = pyyaml.parse(document, Loader=loader)
    top: Any = next(event for event in events if isinstance(event, pyyaml.MappingStartEvent))
    return Layout(top.start_mark.index, bool(top.flow_style), dict(_values(events)))


def _values(events: Iterator[Any]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Key and span of each value, from the events behind the start of the top mapping to its end."""
    for key in events:
        if type(key).__name__ == "MappingEndEvent":
            return
        first = last = next(events)
        depth = _step(first)
        while depth:
            last = next(events)
            depth += _step(last)
        # A key that is an alias has a name that only the loader knows.
        yield getattr(key, "value", ""), (first.start_mark.index, last.end_mark.index)


def _step(event: object) -> int:
    return _STEPS.get(type(event).__name__, 0)


_STEPS = {"MappingStartEvent": 1, "SequenceStartEvent": 1, "MappingEndEvent": -1, "SequenceEndEvent": -1}
"""How far an event goes down or up in its document, by its name."""
