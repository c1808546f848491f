"""The fields of a model as its declaration spells them, for whatever is generated from it: words, options, tables, files."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

Mark = TypeVar("Mark")


class Field(NamedTuple):
    """One field. `kind` is the type of one value, without `None` and, if it may be repeated, without the tuple.

    `marks` are what the annotation holds beside the type: msgspec's `Meta` with bounds and description, and our own.
    `annotation` is the whole, by which a value is checked.
    """

    name: str
    annotation: Any
    kind: Any
    default: Any
    is_required: bool
    is_optional: bool
    is_repeatable: bool
    marks: tuple[Any, ...]

    def find_mark(self, mark: type[Mark]) -> Mark | None:
        """The mark of this type, or None if it has none."""
        return next((one for one in self.marks if isinstance(one, mark)), None)

    def has_mark(self, mark: type) -> bool:
        """Whether it has a mark of this type."""
        return self.find_mark(mark) is not None

    @property
    def description(self) -> str:
        """What the field is, as a phrase or sentence; empty if it is not described."""
        return self.bound("description") or ""

    def bound(self, name: str) -> Any:
        """What one of its `Meta` says about this name, such as `ge` or `max_length`, or None."""
        said = (getattr(one, name) for one in self.marks if isinstance(one, Meta))
        return next((one for one in said if one is not None), None)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The allowed values; empty if the type and its bounds decide."""
        if get_origin(self.kind) is Literal:
            return get_args(self.kind)
        is_enum = isinstance(self.kind, type) and issubclass(self.kind, StrEnum)
        return tuple(member.value for member in self.kind) if is_enum else ()


@cache
def fields_of(model: type[Struct]) -> Mapping[str, Field]:
    """The fields by the name they have in Python, in the order of the declaration."""
    return {info.name: _field(info) for info in msgspec.structs.fields(model)}


def _field(info: msgspec.structs.FieldInfo) -> Field:
    kind, is_optional, marks = _unwrapped(info.type)
    is_repeatable = get_origin(kind) is tuple
    if is_repeatable:
        kind, _, inner = _unwrapped(get_args(kind)[0])
        marks = (*marks, *inner)
    return Field(
        name=info.name,
        annotation=info.type,
        kind=kind,
        default=None if info.required else info.default,
        is_required=info.required,
        is_optional=is_optional,
        is_repeatable=is_repeatable,
        marks=marks,
    )


def _unwrapped(annotation: Any) -> tuple[Any, bool, tuple[Any, ...]]:
    """The type behind `Annotated` and `X | None`, whether it may be None, and the marks."""
    marks: tuple[Any, ...] = ()
    is_optional = False
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *found = get_args(annotation)
            marks = (*found, *marks)
        elif get_origin(annotation) in (Union, UnionType) and NoneType in get_args(annotation):
            annotation = next(kind for kind in get_args(annotation) if kind is not NoneType)
            is_optional = True
        else:
            return annotation, is_optional, marks
