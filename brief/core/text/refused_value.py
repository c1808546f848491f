"""Describe why a value of a field was refused, and what to give instead."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from brief.core.model.fields import Field


def describe_refusal(field: Field, value: Any) -> str:
    """A clause to follow the name and the value, such as `is too large; give 10 or less`."""
    if field.choices:
        return f"is unknown; choose from {', '.join(map(str, field.choices))}"
    if field.kind is bool:
        return "is not true or false"
    if field.kind in (int, float):
        return _describe_number(field, value)
    return _describe_text(field, value) if isinstance(value, str) else "is not a text"


def _describe_number(field: Field, value: Any) -> str:
    number = None if isinstance(value, bool) else value
    if isinstance(value, str):
        with suppress(ValueError):
            number = float(value)
    least, most = field.bound("ge"), field.bound("le")
    if isinstance(number, int | float):
        if least is not None and number < least:
            return f"is too small; give {least:,} or more"
        if most is not None and number > most:
            return f"is too large; give {most:,} or less"
    return "is not a whole number" if field.kind is int else "is not a number"


def _describe_text(field: Field, value: str) -> str:
    least, most = field.bound("min_length"), field.bound("max_length")
    if least is not None and len(value) < least:
        return f"is too short; give {least:,} character{'' if least == 1 else 's'} or more"
    if most is not None and len(value) > most:
        return f"is too long; give {most:,} characters or fewer"
    return "is not in the form that is expected"
