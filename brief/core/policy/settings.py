"""The policy's keys, with type, bounds, default and a one-sentence description. Everything else is derived from these.

Values are used as YAML spells them and never coerced: "20" is not a number, 1 is not true, and 1.5 is not rounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from types import NoneType
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

RULE = "rule"
"""The type of an error about several keys at once. Its context holds `keys` and `write`."""


@dataclass(frozen=True, slots=True)
class Expects:
    """A noun phrase for what a person may write for a key, if its type alone does not say so."""

    phrase: str


def _whole(value: object) -> object:
    """Refuse true and 1.0, which equal 1 in Python."""
    if type(value) is not int:
        raise ValueError("a version is a whole number")
    return value


def _day(value: object) -> object:
    """Convert a text YYYY-MM-DD to a day. Leave anything else for the type to judge."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return date.fromisoformat(value)
    return value


_PLAIN = r"[^\x00-\x1f\x7f]"
_Path = Annotated[str, Field(pattern=rf"^[^~\x00-\x1f\x7f]{_PLAIN}*$", max_length=1_000)]


class _Part(BaseModel):
    """A mapping in the policy: frozen, strict, and without unknown keys."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Freshness(_Part):
    """How old a next action may be."""

    fresh_minutes: int = Field(
        default=30,
        ge=1,
        le=43_200,
        description="Up to this age, in minutes, a task's next action is shown without its age.",
    )
    stale_minutes: int = Field(
        default=240, ge=1, le=43_200, description="Above this age, in minutes, a task's next action is withheld."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.fresh_minutes > self.stale_minutes:
            context = {
                "keys": ("fresh_minutes", "stale_minutes"),
                "write": "a fresh_minutes that is no greater than stale_minutes",
            }
            raise PydanticCustomError(RULE, "fresh_minutes is greater than stale_minutes", context)
        return self


class SessionSettings(_Part):
    """When a session is briefed and woken."""

    brief_interval_minutes: int = Field(
        default=20, ge=1, le=1_440, description="Minutes between two briefs of one session."
    )
    brief_on_interval: bool = Field(
        default=False,
        description="Whether sessions are woken to read the brief at every interval; only true turns it on.",
    )
    brief_when: Literal["always", "changed"] = Field(
        default="always", description="Whether a session is woken at every interval or only when its brief has changed."
    )
    wake_limit: int = Field(
        default=12,
        ge=0,
        le=10_000,
        description="How often a session is woken without a person's prompt in between; 0 means no limit.",
    )
    ensure_server_on_start: bool = Field(
        default=True,
        description="Whether the start of a session also starts the repository's server, if none is running.",
    )
    freshness: Freshness = Field(default=Freshness.model_construct(), description="How old a next action may be.")


class ServerSettings(_Part):
    """The server of the repository."""

    idle_minutes: int = Field(
        default=15, ge=1, le=10_080, description="Minutes without a call after which the server ends."
    )
    port: int | None = Field(
        default=None,
        ge=1_024,
        le=65_535,
        description="A TCP port on loopback to listen on beside the socket. It counts only once it is trusted.",
    )


class AlertSettings(_Part):
    """The notices that sessions leave each other."""

    folders: Annotated[
        tuple[_Path, ...], Strict(strict=False), Expects("a list of at most 16 paths such as [meta/context/notices]")
    ] = Field(
        default=(),
        max_length=16,
        description="More folders of notices, relative to the root of the checkout. One outside it counts only once it is trusted.",
    )
    component: Annotated[str | None, Expects("the name of a component, or null")] = Field(
        default=None,
        pattern=rf"^{_PLAIN}+$",
        max_length=200,
        description="The component that notices are matched against if neither the call nor the task names one.",
    )
    block_characters: int = Field(
        default=4_000, ge=500, le=10_000, description="How many characters the alerts block of a prompt may take."
    )
    lock_owner_since: Annotated[date | None, BeforeValidator(_day), Expects("a day such as 2026-10-01, or null")] = (
        Field(default=None, description="The day since which every new lock must name the session that owns it.")
    )
    archive_tracked: bool = Field(
        default=False, description="Whether expired notices in a tracked folder may be moved to its archive."
    )


class IntegrationSettings(_Part):
    """The queue of branches that wait to be merged."""

    provider: Literal["auto", "git", "github", "none"] = Field(
        default="auto", description="The source of the queue; none leaves the queue out."
    )
    base: Annotated[str | None, Expects("the name of a branch such as main, or null")] = Field(
        default=None,
        pattern=r"^[^-\s~^:?*\[\\\x00-\x1f\x7f][^\s~^:?*\[\\\x00-\x1f\x7f]*$",
        max_length=255,
        description="The branch that the queue is merged into; null means the repository's default branch.",
    )
    refresh_minutes: int = Field(
        default=10, ge=1, le=1_440, description="Minutes after which an observation of the queue is shown with its age."
    )
    api_url: Annotated[str | None, Expects("an address such as https://github.example.org/api/v3, or null")] = Field(
        default=None,
        pattern=r"^https?://[^\s\x00-\x1f\x7f]+$",
        max_length=2_000,
        description="The address of the provider's API, if not the public one. It counts only once it is trusted.",
    )


class MeshSettings(_Part):
    """The other machines."""

    url: Annotated[str | None, Expects("an address such as nats://127.0.0.1:4222, or null")] = Field(
        default=None,
        pattern=r"^(nats|tls|ws|wss)://[^\s\x00-\x1f\x7f]+$",
        max_length=2_000,
        description="The NATS server that connects machines; null leaves the mesh out. It counts only once it is trusted.",
    )


class Settings(_Part):
    """The policy of a repository as in force. Absent keys have their defaults."""

    version: Annotated[Literal[1], BeforeValidator(_whole)] = Field(default=1, description="The format of this file.")
    timezone: Annotated[str | None, Expects("the IANA name of a zone such as Europe/Prague, or null")] = Field(
        default=None, max_length=100, description="The time zone for days and hours; null means the machine's own."
    )
    session: SessionSettings = Field(
        default=SessionSettings.model_construct(), description="When a session is briefed and woken."
    )
    server: ServerSettings = Field(
        default=ServerSettings.model_construct(), description="The server of the repository."
    )
    alerts: AlertSettings = Field(
        default=AlertSettings.model_construct(), description="The notices that sessions leave each other."
    )
    integration: IntegrationSettings = Field(
        default=IntegrationSettings.model_construct(), description="The queue of branches that wait to be merged."
    )
    mesh: MeshSettings = Field(default=MeshSettings.model_construct(), description="The other machines.")


DEFAULTS = Settings.model_construct()
"""The policy of a repository without a policy file. Built without validation, which would load much more of pydantic."""


# ---------------------------------------------------------------- dotted keys


def section_model(field: FieldInfo) -> type[BaseModel] | None:
    """The model of a field that holds further keys. None for a field that holds a value."""
    annotation = field.annotation
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _walk(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        yield prefix + name, field
        inner = section_model(field)
        if inner is not None:
            yield from _walk(inner, f"{prefix}{name}.")


_ALL: Mapping[str, FieldInfo] = dict(_walk(Settings))

SECTIONS: frozenset[str] = frozenset(key for key, field in _ALL.items() if section_model(field))
"""The dotted names that hold further keys."""

KEYS: Mapping[str, FieldInfo] = {key: field for key, field in _ALL.items() if key not in SECTIONS}
"""Every dotted key that holds a value, in the order of the model."""


def default(key: str) -> Any:
    """The value of a dotted key that the policy does not set."""
    return KEYS[key].get_default()


def expects(key: str) -> str:
    """A noun phrase, with bounds, for what a person may write for a dotted key."""
    field = KEYS[key]
    for entry in field.metadata:
        if isinstance(entry, Expects):
            return entry.phrase
    if field.annotation is bool:
        return "true or false"
    if get_origin(field.annotation) is Literal:
        *most, last = (str(choice) for choice in get_args(field.annotation))
        return f"{', '.join(most)} or {last}" if most else last
    optional = ", or null" if NoneType in get_args(field.annotation) else ""
    return f"a whole number{_unit(key)} from {_bound(field, 'ge')} to {_bound(field, 'le')}{optional}"


def _unit(key: str) -> str:
    unit = key.rpartition("_")[2]
    return f" of {unit}" if unit in ("minutes", "characters") else ""


def _bound(field: FieldInfo, name: str) -> int:
    return next(int(getattr(entry, name)) for entry in field.metadata if hasattr(entry, name))
