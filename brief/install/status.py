"""The output of `capture status`: where each mod is, whether it was edited, and whether the client loads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import field

from brief.core.model.wire import Wire
from brief.core.text.sanitize import clean, to_wire
from brief.install.client import Client
from brief.install.hook_settings import HookSettings
from brief.install.install import Found
from brief.install.mods import Scope
from brief.install.place import Place

SCHEMA: Final = "majordomus.capture/v1"
_MOST_NAMED = 3


class ModStatus(Wire, frozen=True):
    """One mod at one place. `changed` names the files that were edited; `off` says why the mod does not act.

    `client` is the client's version, `reasons` say why it does not load the mod, and `doubts` what could not be read;
    they are set only if the mod is ours. `instead` is the person's own mod of the same name, if the project has none.
    """

    mod: str
    provider: str
    scope: Scope
    path: str
    state: Literal["absent", "as written", "edited", "foreign"]
    changed: tuple[str, ...]
    off: str | None
    client: str | None
    reasons: tuple[str, ...]
    instead: str | None = None
    doubts: tuple[str, ...] = ()


class CaptureStatus(Wire, frozen=True, kw_only=True):
    """The mods at the requested places, and the client's settings files that name one of our hooks."""

    schema_: Literal["majordomus.capture/v1"] = field(default=SCHEMA, name="schema")
    mods: tuple[ModStatus, ...]
    settings: tuple[HookSettings, ...] = ()


def mod_status(place: Place, found: Found, off: str | None, seen: Client | None, instead: str | None) -> ModStatus:
    """The record of a mod that was found at a place. `seen` is the client, if it was examined."""
    changed = found.find_edited(place.mod.marker) if found.is_ours else ()
    ours: Literal["as written", "edited"] = "edited" if changed else "as written"
    return ModStatus(
        mod=place.mod.name,
        provider=place.mod.provider,
        scope=place.scope,
        path=to_wire(str(place.path)),
        state=ours if found.is_ours else "absent" if found.kind == "nothing" else "foreign",
        changed=tuple(to_wire(name) for name in changed),
        off=off,
        client=seen.version if seen else None,
        reasons=tuple(to_wire(reason) for reason in seen.reasons) if seen else (),
        doubts=tuple(to_wire(doubt) for doubt in seen.doubts) if seen else (),
        instead=None if instead is None else to_wire(instead),
    )


# ---------------------------------------------------------------- rendering


def status_text(status: CaptureStatus) -> str:
    """The status as text: a few lines for each mod, one for each settings file."""
    lines = [line for mod in status.mods for line in _status_lines(mod)] + [
        (0, _describe(one)) for one in status.settings
    ]
    return "".join(f"{'  ' * depth}{clean(line, 1_000)}\n" for depth, line in lines)


def _status_lines(mod: ModStatus) -> list[tuple[int, str]]:
    """Each line with its indentation level."""
    title = f"{mod.mod} for the {mod.scope}"
    if mod.state == "absent":
        return _absent_lines(mod, title)
    if mod.state == "foreign":
        left = "this tool did not put it there and leaves it as it is; what the client does with it was not checked"
        return [(0, f"{title}: foreign: {mod.path}"), (1, left)]
    edited = ", ".join(mod.changed[:_MOST_NAMED]) + (", ..." if len(mod.changed) > _MOST_NAMED else "")
    state = f"{mod.state} ({edited})" if mod.changed else mod.state
    off = [] if mod.off is None else [(1, mod.off)]
    verdict = (1, f"{mod.provider} {mod.client or '(version unknown)'}: {_describe_loading(mod)}")
    why = [(2, sentence) for sentence in (*mod.reasons, *(f"unknown: {doubt}" for doubt in mod.doubts))]
    return [(0, f"{title}: {state}: {mod.path}"), *off, verdict, *why]


def _describe_loading(mod: ModStatus) -> str:
    """Whether the client loads the mod: yes, no or unknown. A reason against it outweighs a doubt."""
    if mod.reasons:
        return "does not load it:"
    return "whether it loads it is unknown:" if mod.doubts else "loads it; nothing in its files prevents that"


def _absent_lines(mod: ModStatus, title: str) -> list[tuple[int, str]]:
    if mod.instead is not None:
        beside = f"your own is, and the project needs no second one: {mod.instead}"
        return [(0, f"{title}: not installed; {beside}"), (1, "majordomus capture status --scope user shows it")]
    install = "majordomus capture install" + (" --scope user" if mod.scope is Scope.USER else "")
    if mod.scope is Scope.USER or mod.off is None:
        return [(0, f"{title}: not installed; {install} puts it there: {mod.path}")]
    return [(0, f"{title}: not installed; {install} puts it there once the policy consents: {mod.path}"), (1, mod.off)]


def _describe(settings: HookSettings) -> str:
    if settings.unread is not None:
        return f"{settings.path} {settings.unread}, so whether it names majordomus is unknown; fix it"
    silent = "these hooks stay silent while the mod serves the session" if settings.hooks else ""
    line = "while this status line is in force, the mod draws none" if settings.statusline else ""
    return f"{settings.path} names majordomus {join_words(settings.commands)}; " + ", and ".join(
        filter(None, (silent, line))
    )


def join_words(words: Sequence[str]) -> str:
    """The words as a list in a sentence: `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
