"""The policy's keys, with type, bounds, default and a one-sentence description. Everything else is derived from these.

Values are used as YAML spells them and never coerced: "20" is not a number, 1 is not true, and 1.5 is not rounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from brief.core.model.fields import Field, fields_of


class Expects(Struct, frozen=True):
    """A noun phrase for what a person may write for a key, if its type alone does not say so."""

    phrase: str


_PLAIN = r"[^\x00-\x1f\x7f]"
_Path = Annotated[str, Meta(pattern=rf"^[^~\x00-\x1f\x7f]{_PLAIN}*$(?!\n)", max_length=1_000)]


class _Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping in the policy: frozen, strict, and without unknown keys."""


class Freshness(_Part, frozen=True):
    """How old a next action may be."""

    fresh_minutes: Annotated[
        int,
        Meta(ge=1, le=43_200, description="Up to this age, in minutes, a task's next action is shown without its age."),
    ] = 30
    stale_minutes: Annotated[
        int, Meta(ge=1, le=43_200, description="Above this age, in minutes, a task's next action is withheld.")
    ] = 240


class SessionSettings(_Part, frozen=True):
    """When a session is briefed and woken."""

    brief_interval_minutes: Annotated[
        int, Meta(ge=1, le=1_440, description="Minutes between two briefs of one session.")
    ] = 20
    brief_on_interval: Annotated[
        bool, Meta(description="Whether sessions are woken to read the brief at every interval; only true turns it on.")
    ] = False
    brief_when: Annotated[
        Literal["always", "changed"],
        Meta(description="Whether a session is woken at every interval or only when its brief has changed."),
    ] = "always"
    wake_limit: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="How often a session is woken without a person's prompt in between; 0 means no limit.",
        ),
    ] = 12
    ensure_server_on_start: Annotated[
        bool,
        Meta(description="Whether the start of a session also starts the repository's server, if none is running."),
    ] = True
    freshness: Annotated[Freshness, Meta(description="How old a next action may be.")] = Freshness()


class ServerSettings(_Part, frozen=True):
    """The server of the repository."""

    idle_minutes: Annotated[
        int, Meta(ge=1, le=10_080, description="Minutes without a call after which the server ends.")
    ] = 15
    port: (
        Annotated[
            int,
            Meta(
                ge=1_024,
                le=65_535,
                description="A TCP port on loopback to listen on beside the socket. It counts only once it is trusted.",
            ),
        ]
        | None
    ) = None


class AlertSettings(_Part, frozen=True):
    """The notices that sessions leave each other."""

    folders: Annotated[
        tuple[_Path, ...],
        Expects("a list of at most 16 paths such as [meta/context/notices]"),
        Meta(
            max_length=16,
            description="More folders of notices, relative to the root of the checkout. One outside it counts only once it is trusted.",
        ),
    ] = ()
    component: (
        Annotated[
            str,
            Expects("the name of a component, or null"),
            Meta(
                pattern=rf"^{_PLAIN}+$(?!\n)",
                max_length=200,
                description="The component that notices are matched against if neither the call nor the task names one.",
            ),
        ]
        | None
    ) = None
    block_characters: Annotated[
        int, Meta(ge=500, le=10_000, description="How many characters the alerts block of a prompt may take.")
    ] = 4_000
    lock_owner_since: (
        Annotated[
            date,
            Expects("a day such as 2026-10-01, or null"),
            Meta(description="The day since which every new lock must name the session that owns it."),
        ]
        | None
    ) = None
    archive_tracked: Annotated[
        bool, Meta(description="Whether expired notices in a tracked folder may be moved to its archive.")
    ] = False


class IntegrationSettings(_Part, frozen=True):
    """The queue of branches that wait to be merged."""

    provider: Annotated[
        Literal["auto", "git", "github", "none"],
        Meta(description="The source of the queue; none leaves the queue out."),
    ] = "auto"
    base: (
        Annotated[
            str,
            Expects("the name of a branch such as main, or null"),
            Meta(
                pattern=r"^[^-\s~^:?*\[\\\x00-\x1f\x7f][^\s~^:?*\[\\\x00-\x1f\x7f]*$(?!\n)",
                max_length=255,
                description="The branch that the queue is merged into; null means the repository's default branch.",
            ),
        ]
        | None
    ) = None
    refresh_minutes: Annotated[
        int, Meta(ge=1, le=1_440, description="Minutes after which an observation of the queue is shown with its age.")
    ] = 10
    api_url: (
        Annotated[
            str,
            Expects("an address such as https://github.example.org/api/v3, or null"),
            Meta(
                pattern=r"^https?://[^\s\x00-\x1f\x7f]+$(?!\n)",
                max_length=2_000,
                description="The address of the provider's API, if not the public one. It counts only once it is trusted.",
            ),
        ]
        | None
    ) = None


class MeshSettings(_Part, frozen=True):
    """The other machines."""

    url: (
        Annotated[
            str,
            Expects("an address such as nats://127.0.0.1:4222, or null"),
            Meta(
                pattern=r"^(nats|tls|ws|wss)://[^\s\x00-\x1f\x7f]+$(?!\n)",
                max_length=2_000,
                description="The NATS server of the mesh, or null for none. It counts only once it is trusted, and the mesh is not built yet.",
            ),
        ]
        | None
    ) = None


class Settings(_Part, frozen=True):
    """The policy of a repository as in force. Absent keys have their defaults."""

    version: Annotated[Literal[1], Meta(description="The format of this file.")] = 1
    timezone: (
        Annotated[
            str,
            Expects("the IANA name of a zone such as Europe/Prague, or null"),
            Meta(max_length=100, description="The time zone for days and hours; null means the machine's own."),
        ]
        | None
    ) = None
    session: Annotated[SessionSettings, Meta(description="When a session is briefed and woken.")] = SessionSettings()
    server: Annotated[ServerSettings, Meta(description="The server of the repository.")] = ServerSettings()
    alerts: Annotated[AlertSettings, Meta(description="The notices that sessions leave each other.")] = AlertSettings()
    integration: Annotated[IntegrationSettings, Meta(description="The queue of branches that wait to be merged.")] = (
        IntegrationSettings()
    )
    mesh: Annotated[MeshSettings, Meta(description="The other machines.")] = MeshSettings()


DEFAULTS = Settings()
"""The policy of a repository without a policy file."""


# ---------------------------------------------------------------- dotted keys


def section_model(field: Field) -> type[Struct] | None:
    """The model of a field that holds further keys. None for a field that holds a value."""
    return field.kind if isinstance(field.kind, type) and issubclass(field.kind, Struct) else None


def _walk(model: type[Struct], prefix: str = "") -> Iterator[tuple[str, Field]]:
    for name, field in fields_of(model).items():
        yield prefix + name, field
        inner = section_model(field)
        if inner is not None:
            yield from _walk(inner, f"{prefix}{name}.")


@cache
def sections() -> frozenset[str]:
    """The dotted names that hold further keys."""
    return frozenset(key for key, field in _walk(Settings) if section_model(field))


@cache
def keys() -> Mapping[str, Field]:
    """Every dotted key that holds a value, in the order of the model."""
    return {key: field for key, field in _walk(Settings) if not section_model(field)}


def default(key: str) -> Any:
    """The value of a dotted key that the policy does not set."""
    return keys()[key].default


def is_usable(key: str, value: object) -> bool:
    """Whether a dotted key may have this value."""
    try:
        msgspec.convert(value, keys()[key].annotation)
    except msgspec.ValidationError:
        return False
    return True


def expects(key: str) -> str:
    """A noun phrase, with bounds, for what a person may write for a dotted key."""
    field = keys()[key]
    phrase = field.find_mark(Expects)
    if phrase is not None:
        return phrase.phrase
    if field.kind is bool:
        return "true or false"
    if field.choices:
        *most, last = (str(choice) for choice in field.choices)
        return f"{', '.join(most)} or {last}" if most else last
    optional = ", or null" if field.is_optional else ""
    return f"a whole number{_unit(key)} from {field.bound('ge')} to {field.bound('le')}{optional}"


def _unit(key: str) -> str:
    unit = key.rpartition("_")[2]
    return f" of {unit}" if unit in ("minutes", "characters") else ""


# ---------------------------------------------------------------- rules about several keys


class Order(NamedTuple):
    """A key that must not be greater than another; `write` is what to write instead."""

    lower: str
    upper: str
    write: str


ORDERS = (
    Order(
        "session.freshness.fresh_minutes",
        "session.freshness.stale_minutes",
        "a fresh_minutes that is no greater than stale_minutes",
    ),
)
"""The rules about two keys at once."""
