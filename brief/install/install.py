"""Putting a mod where its client finds it, and taking it out again; what is not ours is never touched.

Whether a mod may be in a checkout is for its policy to say: only `true` at its key is consent, and where that is
withdrawn the next installation takes it out. What is for all sessions of a person is there by their word alone. What a
person edited by hand is kept before it is replaced. No settings file is written.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from brief.core.model.errors import MajordomusError
from brief.install import folder
from brief.install.content import Files, digest, laid_by_client, written_last
from brief.install.folder import Kind
from brief.install.place import Place
from brief.support.files import reason_of


class CaptureError(MajordomusError):
    """A mod cannot be put in its place or taken out of it, and what was left as it was."""


class Action(StrEnum):
    """What was done."""

    WRITTEN = "written"
    PRESENT = "already present"
    REWRITTEN = "rewritten"
    REMOVED = "removed"
    NOT_WRITTEN = "not written"
    FOREIGN = "present and not this tool's"
    ABSENT = "not there"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done with one mod, and that as a sentence."""

    mod: str
    action: Action
    sentence: str


@dataclass(frozen=True, slots=True)
class Found:
    """What lies at a mod's place: nothing, something foreign, or ours with its files, of which some may be edited."""

    kind: Kind
    files: Files
    last: Files | None

    @property
    def is_ours(self) -> bool:
        """Whether it carries our marker."""
        return self.last is not None

    def edited(self, marker: str) -> tuple[str, ...]:
        """The files that differ from what was written last: changed, added or missing."""
        now = {name: digest(text) for name, text in self.files.items() if name != marker}
        last = self.last or {}
        return tuple(sorted(name for name in {*now, *last} if now.get(name) != last.get(name)))


NOTHING = Found(Kind.NOTHING, {}, None)


def find(place: Place) -> Found:
    """What lies at the place; changes nothing. Raises LinkInTheWayError, CaptureError."""
    try:
        with place.parent(make=False) as parent:
            return _find(place, parent)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    except OSError as error:
        raise _cannot(place, "read", error) from error


def install(place: Place, wanted: Files, off: str | None, now: datetime) -> Outcome:
    """Let the mod be at its place as `wanted`, or not be there where `off` says why it may not.

    Raises LinkInTheWayError, CaptureError.
    """
    if off is not None and not place.path.parent.is_dir():
        return _outcome(place, Action.NOT_WRITTEN, off)
    try:
        with place.parent(make=off is None) as parent, folder.held(parent, place.name):
            found = _find(place, parent)
            if found.kind is not Kind.NOTHING and not found.is_ours:
                return _foreign(place, found)
            if off is not None:
                return _withdraw(place, parent, found, off, now)
            return _renew(place, parent, found, wanted, now)
    except OSError as error:
        raise _cannot(place, "written", error) from error


def remove(place: Place, now: datetime) -> Outcome:
    """Take the mod out, whatever the policy says; what is not ours stays. Raises LinkInTheWayError, CaptureError."""
    if find(place).kind is Kind.NOTHING:
        return _outcome(place, Action.ABSENT, f"nothing to remove at {place.path}")
    try:
        with place.parent(make=False) as parent, folder.held(parent, place.name):
            found = _find(place, parent)
            return _take_out(place, parent, found, "", now) if found.is_ours else _foreign(place, found)
    except OSError as error:
        raise _cannot(place, "removed", error) from error


def _find(place: Place, parent: int) -> Found:
    kind = folder.kind(parent, place.name)
    if kind is not Kind.FOLDER:
        return Found(kind, {}, None)
    files = {path: text for path, text in folder.read(parent, place.name).items() if not laid_by_client(path)}
    return Found(kind, files, written_last(place.mod, files))


def _renew(place: Place, parent: int, found: Found, wanted: Files, now: datetime) -> Outcome:
    if not found.is_ours:
        folder.put(parent, place.name, wanted)
        return _outcome(place, Action.WRITTEN, str(place.path))
    if found.files == wanted:
        return _outcome(place, Action.PRESENT, "")
    why = _kept(place, found, now) or "it was of another version or installation"
    folder.put(parent, place.name, wanted)
    return _outcome(place, Action.REWRITTEN, f"{place.path}; {why}")


def _withdraw(place: Place, parent: int, found: Found, off: str, now: datetime) -> Outcome:
    if found.kind is Kind.NOTHING:
        return _outcome(place, Action.NOT_WRITTEN, off)
    return _take_out(place, parent, found, off, now)


def _take_out(place: Place, parent: int, found: Found, off: str, now: datetime) -> Outcome:
    said = "; ".join(part for part in (off or str(place.path), _kept(place, found, now)) if part)
    folder.take_away(parent, place.name)
    return _outcome(place, Action.REMOVED, said)


def _kept(place: Place, found: Found, now: datetime) -> str:
    """Keep a copy of what was edited by hand, and say where; empty where nothing was."""
    if not found.edited(place.mod.marker):
        return ""
    copy = _free(place.kept / f"{place.mod.name}-{now:%Y%m%dT%H%M%SZ}")
    try:
        place.make_kept()
        shutil.copytree(place.path, copy, symlinks=True, ignore=_laid)
    except (OSError, shutil.Error) as error:
        raise CaptureError(
            f"{place.path} was edited by hand and cannot be kept at {copy}; nothing was changed"
        ) from error
    return f"the edited copy is kept at {copy}"


def _free(path: Path) -> Path:
    number = 1
    free = path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free


def _laid(at: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "types" and os.path.basename(at) == ".claude-plugin"]


def _foreign(place: Place, found: Found) -> Outcome:
    what = " (a link, which is not followed)" if found.kind is Kind.LINK else ""
    return Outcome(
        place.mod.name, Action.FOREIGN, f"{place.mod.name}: {Action.FOREIGN}{what}; left as it is: {place.path}"
    )


_TOLD: Mapping[Action, str] = {Action.PRESENT: "already present; left as it is"}


def _outcome(place: Place, action: Action, said: str) -> Outcome:
    return Outcome(
        place.mod.name, action, ": ".join(part for part in (place.mod.name, _TOLD.get(action, action), said) if part)
    )


def _cannot(place: Place, done: str, error: OSError) -> CaptureError:
    return CaptureError(f"{place.path}: it cannot be {done} ({reason_of(error)}); it was left as it was")
