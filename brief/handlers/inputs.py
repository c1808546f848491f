"""What the inputs of capabilities are made of."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from brief.request import PRIMARY

_UNHOLDABLE = re.compile("[\0\ud800-\udfff]")


class Positional:
    """Marks the fields of an input that are words of a command, not options of it."""


class Inputs(BaseModel):
    """The input of a capability: closed, so that an unknown name is refused and never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    root: str = Field(
        default=PRIMARY,
        description="any folder in the checkout to use (default: the server's primary checkout)",
        json_schema_extra=lambda schema: schema.pop("default", None),  # type: ignore[arg-type]  # what it returns is not used
    )

    @field_validator("*")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        """Refuse what JSON can spell and no path, database or answer can hold: half a surrogate pair, and NUL."""
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and _UNHOLDABLE.search(text):
                raise PydanticCustomError("no_text", "a NUL or half of a surrogate pair is no text")
        return value


class SessionInputs(Inputs):
    """An input that may name the episode it is about."""

    session: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)",
    )


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
