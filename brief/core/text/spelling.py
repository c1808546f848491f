"""Describe a value of a YAML file to a person: as spelled, bounded and sanitized, with the name of its type."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from brief.core.text.sanitize import clean

_MOST = 60
_DEPTH = 4


def name_type(value: object) -> str:
    """The name of a value's type in plain words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true/false"
        case int():
            return "whole number"
        case float():
            return "number"
        case str():
            return "text"
        case Mapping():
            return "mapping"
        case _:
            return "list"


def spell(value: object) -> str:
    """A value as YAML would spell it. A list or mapping is described only by its size."""
    match value:
        case str():
            return clean(json.dumps(value[: 4 * _MOST], ensure_ascii=False), _MOST)
        case Mapping():
            return f"{{{_count(len(value), 'key', 'keys')}}}"
        case list() | tuple():
            return f"[{_count(len(value), 'entry', 'entries')}]"
        case _:
            return json.dumps(value)


def describe_value(value: object, spelling: str | None = None) -> str:
    """A value followed by its type, as in `"20" (text)`. Null has no type."""
    if value is None:
        return "null"
    return f"{spelling or spell(value)} ({name_type(value)})"


def spellings(text: str) -> dict[str, str]:
    """How a text spells each plain or quoted value, by dotted key. The strict loader must have accepted the text."""
    import yaml  # noqa: PLC0415 - slow to load, and only a faulty file needs it

    loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return dict(_scalars(yaml.compose(text, Loader=loader), "", _DEPTH))


def _scalars(node: Any, prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    from yaml import MappingNode, ScalarNode  # noqa: PLC0415 - loaded already

    if not isinstance(node, MappingNode) or depth == 0:
        return
    for name, value in node.value:
        key = f"{prefix}{name.value}"
        if not isinstance(value, ScalarNode):
            yield from _scalars(value, f"{key}.", depth - 1)
        elif value.value and value.style not in ("|", ">"):
            quote = value.style or ""
            yield key, clean(f"{quote}{value.value}{quote}", _MOST)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}" if number else ""
