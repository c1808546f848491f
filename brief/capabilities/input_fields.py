"""Reads the types, choices and marks of input fields, from which the command line is generated."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic.fields import FieldInfo

Mark = TypeVar("Mark")


def find_mark(field: FieldInfo, mark: type[Mark]) -> Mark | None:
    """Return the field's mark of this type, or None if it has none."""
    return next((one for one in field.metadata if isinstance(one, mark)), None)


def has_mark(field: FieldInfo, mark: type) -> bool:
    """Whether the field has a mark of this type."""
    return find_mark(field, mark) is not None


def is_repeatable(field: FieldInfo) -> bool:
    """Whether the option may be repeated."""
    return get_origin(_without_none(field.annotation)) is tuple


def value_type(field: FieldInfo) -> Any:
    """The type of one value of the field."""
    kind = _without_none(field.annotation)
    return _without_none(get_args(kind)[0]) if get_origin(kind) is tuple else kind


def choices_of(kind: Any) -> tuple[str, ...]:
    """The allowed values of a type; empty if any value is allowed."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(member.value for member in kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else ()


def _without_none(annotation: Any) -> Any:
    """The type behind `X | None`."""
    kinds = get_args(annotation)
    return next(kind for kind in kinds if kind is not type(None)) if type(None) in kinds else annotation
