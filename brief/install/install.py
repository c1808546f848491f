"""Install a mod where its client finds it, and remove it again. Files that are not ours are never touched.

The policy decides whether a checkout may have a mod: only `true` at the mod's key is consent, and once consent is
withdrawn the next installation removes the mod. A mod for all sessions of a person needs only that person's command.
Files edited by hand are backed up before they are replaced. No settings file is written.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from brief.core.model.errors import MajordomusError
from brief.install import folder
from brief.install.content import Files, digest_file, is_client_file, read_marker
from brief.install.folder import Kind
from brief.install.place import Place
from brief.support.files import reason_of


class CaptureError(MajordomusError):
    """A mod cannot be installed, removed or read. Says what was left unchanged."""


class Action(StrEnum):
    """What was done with a mod."""

    WRITTEN = "written"
    PRESENT = "already present"
    REWRITTEN = "rewritten"
    REMOVED = "removed"
    NOT_WRITTEN = "not written"
    FOREIGN = "present and not this tool's"
    ABSENT = "not there"


class Outcome(Struct, frozen=True):
    """What was done with one mod, and a sentence that says so."""

    mod: str
    action: Action
    sentence: str


class Found(Struct, frozen=True):
    """What is at a mod's place. `last` are the digests that the last installation wrote, None if it is not ours."""

    kind: Kind
    files: Files
    last: Files | None

    @property
    def is_ours(self) -> bool:
        """Whether it has our marker."""
        return self.last is not None

    def find_edited(self, marker: str) -> tuple[str, ...]:
        """The files that were changed, added or deleted since the last installation."""
        now = {name: digest_file(text) for name, text in self.files.items() if name != marker}
        last = self.last or {}
        return tuple(sorted(name for name in {*now, *last} if now.get(name) != last.get(name)))


NOTHING = Found(Kind.NOTHING, {}, None)


def find(place: Place) -> Found:
    """Read what is at the place. Raises LinkInTheWayError, CaptureError."""
    try:
        with place.open_parent(make=False) as parent:
            return _find(place, parent)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    except OSError as error:
        raise _capture_error(place, "read", error) from error


def install(place: Place, wanted: Files, off: str | None, now: datetime) -> Outcome:
    """Install the mod with the files `wanted`, or remove it if `off` says why it may not be there.

    Raises LinkInTheWayError, CaptureError.
    """
    if off is not None and not place.path.parent.is_dir():
        return _make_outcome(place, Action.NOT_WRITTEN, off)
    try:
        with place.open_parent(make=off is None) as parent, folder.lock_parent(parent, place.name):
            found = _find(place, parent)
            if found.kind is not Kind.NOTHING and not found.is_ours:
                return _report_foreign(place, found)
            if off is not None:
                return _withdraw(place, parent, found, off, now)
            return _update(place, parent, found, wanted, now)
    except OSError as error:
        raise _capture_error(place, "written", error) from error


def remove(place: Place, now: datetime) -> Outcome:
    """Remove the mod, whatever the policy says, unless it is not ours. Raises LinkInTheWayError, CaptureError."""
    if find(place).kind is Kind.NOTHING:
        return _make_outcome(place, Action.ABSENT, f"nothing to remove at {place.path}")
    try:
        with place.open_parent(make=False) as parent, folder.lock_parent(parent, place.name):
            found = _find(place, parent)
            return _remove(place, parent, found, "", now) if found.is_ours else _report_foreign(place, found)
    except OSError as error:
        raise _capture_error(place, "removed", error) from error


def _find(place: Place, parent: int) -> Found:
    kind = folder.find_kind(parent, place.name)
    if kind is not Kind.FOLDER:
        return Found(kind, {}, None)
    files = {path: text for path, text in folder.read(parent, place.name).items() if not is_client_file(path)}
    return Found(kind, files, read_marker(place.mod, files))


def _update(place: Place, parent: int, found: Found, wanted: Files, now: datetime) -> Outcome:
    if not found.is_ours:
        folder.replace(parent, place.name, wanted)
        return _make_outcome(place, Action.WRITTEN, str(place.path))
    if found.files == wanted:
        return _make_outcome(place, Action.PRESENT, "")
    why = _keep_edited(place, found, now) or "it was from another version or installation"
    folder.replace(parent, place.name, wanted)
    return _make_outcome(place, Action.REWRITTEN, f"{place.path}; {why}")


def _withdraw(place: Place, parent: int, found: Found, off: str, now: datetime) -> Outcome:
    if found.kind is Kind.NOTHING:
        return _make_outcome(place, Action.NOT_WRITTEN, off)
    return _remove(place, parent, found, off, now)


def _remove(place: Place, parent: int, found: Found, off: str, now: datetime) -> Outcome:
    detail = "; ".join(part for part in (off or str(place.path), _keep_edited(place, found, now)) if part)
    folder.remove(parent, place.name)
    return _make_outcome(place, Action.REMOVED, detail)


def _keep_edited(place: Place, found: Found, now: datetime) -> str:
    """Back up a folder that was edited by hand. Returns a clause that says where, "" if nothing was edited."""
    if not found.find_edited(place.mod.marker):
        return ""
    copy = _find_unused(place.kept / f"{place.mod.name}-{now:%Y%m%dT%H%M%SZ}")
    try:
        place.make_kept()
        shutil.copytree(place.path, copy, symlinks=True, ignore=_client_files)
    except (OSError, shutil.Error) as error:
        raise CaptureError(
            f"{place.path} was edited by hand and cannot be copied to {copy}; nothing was changed"
        ) from error
    return f"the edited copy is kept at {copy}"


def _find_unused(path: Path) -> Path:
    number = 1
    unused = path
    while os.path.lexists(unused):
        number += 1
        unused = path.with_name(f"{path.name}-{number}")
    return unused


def _client_files(at: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "types" and os.path.basename(at) == ".claude-plugin"]


def _report_foreign(place: Place, found: Found) -> Outcome:
    what = " (a link, which is not followed)" if found.kind is Kind.LINK else ""
    return Outcome(
        place.mod.name, Action.FOREIGN, f"{place.mod.name}: {Action.FOREIGN}{what}; left as it is: {place.path}"
    )


_PHRASES: Mapping[Action, str] = {Action.PRESENT: "already present; left as it is"}


def _make_outcome(place: Place, action: Action, detail: str) -> Outcome:
    parts = (place.mod.name, _PHRASES.get(action, action), detail)
    return Outcome(place.mod.name, action, ": ".join(part for part in parts if part))


def _capture_error(place: Place, done: str, error: OSError) -> CaptureError:
    return CaptureError(f"{place.path} cannot be {done} ({reason_of(error)}); it was left as it was")
