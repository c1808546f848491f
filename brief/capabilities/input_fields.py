"""What the fields of an input are as words of a command: their types, choices and marks."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic.fields import FieldInfo

Mark = TypeVar("Mark")


def find_mark(field: FieldInfo, mark: type[Mark]) -> Mark | None:
    """The mark of this type that the field carries; None where it carries none."""
    return next((one for one in field.metadata if isinstance(one, mark)), None)


def has_mark(field: FieldInfo, mark: type) -> bool:
    """Whether the field carries a mark of this type."""
    return find_mark(field, mark) is not None


def is_repeatable(field: FieldInfo) -> bool:
    """Whether the option may be given several times."""
    return get_origin(_without_none(field.annotation)) is tuple


def value_type(field: FieldInfo) -> Any:
    """The type of one value of the field."""
    kind = _without_none(field.annotation)
    return _without_none(get_args(kind)[0]) if get_origin(kind) is tuple else kind


def choices_of(kind: Any) -> tuple[str, ...]:
    """The values of a type that has only a few; none where any value is allowed."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(member.value for member in kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else ()


def _without_none(annotation: Any) -> Any:
    """The type behind `X | None`."""
    kinds = get_args(annotation)
    return next(kind for kind in kinds if kind is not type(None)) if type(None) in kinds else annotation
