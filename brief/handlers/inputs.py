"""The inputs of capabilities: their types and how values are checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec
from msgspec import Meta, Struct, ValidationError

from brief.core.model.fields import Field, fields_of
from brief.core.text.refused_value import describe_refusal
from brief.core.text.sanitize import clean
from brief.request import PRIMARY

_UNHOLDABLE = re.compile("[\0\ud800-\udfff]")


class Positional:
    """Marks the fields of an input that are words of a command, not options of it."""


class Inputs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The input of a capability: closed, so that an unknown name is refused and never ignored."""

    may_abbreviate_session: ClassVar[bool] = True
    """Whether a session may be named by its first letters. Not where a client reports one, or where one is opened."""

    root: Annotated[
        str, Meta(description="any folder in the checkout to use (default: the server's primary checkout)")
    ] = PRIMARY


class SessionInputs(Inputs, frozen=True, kw_only=True):
    """An input that may name the episode it is about."""

    session: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=200,
                description="id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)",
            ),
        ]
        | None
    ) = None


class Path:
    """Marks the fields of an input that name a file: a command means it from the folder where it is given."""


class OwnersOwn:
    """Marks a switch that also shows what is for the owner alone, which no command does in a model's shell.

    It is an option that is refused there; or, `by_default`, no option at all: the command sets it in a person's shell.
    """

    def __init__(self, *, by_default: bool) -> None:
        self.by_default = by_default


OwnerFlag = Annotated[bool, OwnersOwn(by_default=False)]
OwnerByDefault = Annotated[bool, OwnersOwn(by_default=True)]
Words = Annotated[str, Positional()]
FileName = Annotated[str, Positional(), Path()]


# ---------------------------------------------------------------- checking

Input = TypeVar("Input", bound=Inputs)


class RefusedInputError(ValueError):
    """Values that an input does not take. `refusals` are their fields and a clause each, which follows name and value."""

    def __init__(self, refusals: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name} {why}" for name, why in refusals.items()))
        self.refusals = refusals


def read_input(model: type[Input], given: Mapping[str, Any], *, spelled: bool = False) -> Input:
    """The input that these values make; `spelled` if numbers and switches are given as text, as a query does.

    Raises RefusedInputError. JSON can spell NUL and half of a surrogate pair, and no path, database or answer can hold them.
    """
    try:
        made = msgspec.convert(given, model, strict=not spelled)
    except ValidationError:
        raise RefusedInputError(dict(_refusals(model, given, spelled=spelled))) from None
    held = {name: value for name, value in given.items() if not _is_text(value)}
    if held:
        raise RefusedInputError(dict.fromkeys(held, "holds a NUL or half of a surrogate pair, which is no text"))
    return made


def _refusals(model: type[Inputs], given: Mapping[str, Any], *, spelled: bool) -> Iterator[tuple[str, str]]:
    """Each field that is unknown, missing or refused, and why."""
    fields = fields_of(model)
    for name in given.keys() - fields.keys():
        yield name, "is unknown"
    for field in fields.values():
        if field.name not in given:
            if field.is_required:
                yield field.name, "is missing"
        elif (why := _refusal(field, given[field.name], spelled=spelled)) is not None:
            yield field.name, why


def _refusal(field: Field, value: Any, *, spelled: bool) -> str | None:
    if _fits(field, value, spelled=spelled):
        return None
    if not field.is_repeatable:
        return f"{clean(str(value), 80)} {describe_refusal(field, value)}"
    if not isinstance(value, list | tuple):
        return f"{clean(str(value), 80)} is not a list"
    for entry in value:
        if not _fits(field, [entry], spelled=spelled):
            return f"{clean(str(entry), 80)} {describe_refusal(field, entry)}"
    return f"is given {len(value):,} times; give it {field.bound('max_length'):,} times or fewer"


def _fits(field: Field, value: Any, *, spelled: bool) -> bool:
    try:
        msgspec.convert(value, field.annotation, strict=not spelled)
    except ValidationError:
        return False
    return True


def _is_text(value: Any) -> bool:
    texts = value if isinstance(value, list | tuple) else (value,)
    return not any(isinstance(text, str) and _UNHOLDABLE.search(text) for text in texts)
