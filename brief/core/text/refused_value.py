"""Describe why an input value was refused, and what to give instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_BOUNDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "greater_than_equal": lambda bound: f"is too small; give {bound['ge']:,} or more",
    "less_than_equal": lambda bound: f"is too large; give {bound['le']:,} or less",
    "string_too_short": lambda bound: f"is too short; give {bound['min_length']:,} characters or more",
    "string_too_long": lambda bound: f"is too long; give {bound['max_length']:,} characters or fewer",
}


def describe_refusal(error: Mapping[str, Any]) -> str:
    """A clause for one of pydantic's `errors()`, to follow the name and value. Other kinds keep pydantic's own words."""
    bound = _BOUNDS.get(error["type"])
    return f"is refused: {error['msg']}" if bound is None else bound(error.get("ctx", {}))
