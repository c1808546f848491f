"""The declaration of a capability."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import Struct

from brief.core.model.answers import Rendered
from brief.core.model.errors import ANSWERED, NOT_ALL_READ
from brief.core.model.wire import Wire
from brief.handlers.inputs import Inputs
from brief.service import RepositoryService


class Http(Struct, frozen=True):
    """The method of a capability's route and its path below `/api/v1`."""

    method: Literal["GET", "POST"]
    path: str


class Strict(Struct, frozen=True):
    """The help of `--strict`, and the function that gives the exit code for an answer."""

    help: str
    exit_code: Callable[[Any], int]


def _not_all_read(answer: Any) -> int:
    in_full = answer.in_full if isinstance(answer, Rendered) else answer.fully_read
    return ANSWERED if in_full else NOT_ALL_READ


READ_IN_FULL = Strict(f"exit {NOT_ALL_READ} if not everything was read", _not_all_read)


class Capability(Struct, frozen=True):
    """One thing that brief can do.

    A query reads and a command writes. Without words in `cli` it has no command. `in_memory` says that only a server can
    answer; without a server, other queries are answered by the command itself. `strict` is what `--strict` demands of an
    answer, or None. `document` is the shape of a rendered answer if that is JSON.
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
