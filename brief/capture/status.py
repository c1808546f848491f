"""What `capture status` tells: where each mod is, whether it is as it was written, and whether the client loads it."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import ConfigDict, Field

from brief.capture import client
from brief.capture.install import Found
from brief.capture.mods import Scope
from brief.capture.place import Place
from brief.core.model import Wire
from brief.core.text.sanitize import clean, wire

SCHEMA: Final = "majordomus.capture/v1"
_TOLD = 3


class Installed(Wire):
    """One mod at one place. `changed` names the files that are not as they were written; `off` why it does not act."""

    mod: str
    provider: str
    scope: Scope
    path: str
    standing: Literal["absent", "as written", "edited", "foreign"]
    changed: tuple[str, ...]
    off: str | None
    client: str | None
    reasons: tuple[str, ...]


class CaptureStatus(Wire):
    """Every mod at the places that were asked for."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["majordomus.capture/v1"] = Field(default=SCHEMA, alias="schema")
    mods: tuple[Installed, ...]


def installed(place: Place, found: Found, off: str | None, seen: client.Client) -> Installed:
    """What was found, in one record."""
    changed = found.edited(place.mod.marker) if found.is_ours else ()
    ours: Literal["as written", "edited"] = "edited" if changed else "as written"
    return Installed(
        mod=place.mod.name,
        provider=place.mod.provider,
        scope=place.scope,
        path=wire(str(place.path)),
        standing=ours if found.is_ours else "absent" if found.kind == "nothing" else "foreign",
        changed=tuple(wire(name) for name in changed),
        off=off,
        client=seen.version,
        reasons=tuple(wire(reason) for reason in seen.reasons),
    )


def status_text(status: CaptureStatus) -> str:
    """A few lines a mod."""
    return "".join(f"{'  ' * depth}{clean(line, 1_000)}\n" for mod in status.mods for depth, line in _lines(mod))


def _lines(mod: Installed) -> list[tuple[int, str]]:
    """Each line and how deep it stands."""
    named = ", ".join(mod.changed[:_TOLD]) + (", ..." if len(mod.changed) > _TOLD else "")
    edited = f" ({named})" if mod.changed else ""
    lines = [(0, f"{mod.mod} for the {mod.scope}: {mod.standing}{edited}: {mod.path}")]
    if mod.off is not None:
        lines.append((1, mod.off))
    loads = "nothing that is known of keeps it from loading" if not mod.reasons else "does not load it as it stands:"
    lines.append((1, f"{mod.provider} {mod.client or '(version unknown)'}: {loads}"))
    return [*lines, *((2, reason) for reason in mod.reasons)]
