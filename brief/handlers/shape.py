"""What every capability is made of."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from brief.core.model.errors import ANSWERED, NOT_ALL_READ
from brief.core.model.wire import Wire
from brief.request import PRIMARY
from brief.service import RepositoryService

_UNHOLDABLE = re.compile("[\0\ud800-\udfff]")


class Positional:
    """Marks the fields of an input that are words of a command, not options of it."""


class Inputs(BaseModel):
    """The input of a capability: closed, so that an unknown name is refused and never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    root: str = Field(
        default=PRIMARY,
        description="a folder of the checkout that is meant; the server's primary checkout where none is named",
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
        description="the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID",
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


class Rendered(Wire):
    """An answer that is a document already. `in_full` tells whether all that it speaks of was read."""

    body: bytes
    media_type: str
    in_full: bool


class Problem(Wire):
    """Why a call was not answered: a sentence, its kind, and the exit code of a command that meets it."""

    error: str
    kind: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class Http:
    """Where a capability stands below `/api/v1`."""

    method: Literal["GET", "POST"]
    path: str


@dataclass(frozen=True, slots=True)
class Strict:
    """What `--strict` does, as its help says it, and the exit code that it gives for an answer."""

    told: str
    exit_code: Callable[[Any], int]


def _not_all_read(answer: Any) -> int:
    in_full = answer.in_full if isinstance(answer, Rendered) else answer.fully_read
    return ANSWERED if in_full else NOT_ALL_READ


READ_IN_FULL = Strict(f"exit {NOT_ALL_READ} where not all was read", _not_all_read)


@dataclass(frozen=True, slots=True)
class Capability:
    """One thing that can be asked or told.

    A query reads and a command writes. One without words in `cli` is no command of its own. `in_memory` says that only
    a server can answer; other queries are answered by the command itself where no server does. `strict` is what
    `--strict` asks of an answer, None where there is no such question. `document` is the shape of a rendered answer where
    it is JSON.
    """

    id: str
    kind: Literal["query", "command"]
    title: str
    input: type[Inputs]
    output: type[Wire]
    handler: Callable[[RepositoryService, Any], Awaitable[Wire]]
    text: Callable[[Any], str]
    http: Http
    cli: tuple[str, ...] = ()
    in_memory: bool = False
    strict: Strict | None = None
    document: type[Wire] | None = None
