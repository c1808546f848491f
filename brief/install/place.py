"""The place of a mod: a path below a trusted folder, none of whose components may be a link."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from brief.fastpath.lease import state_dir
from brief.fastpath.locate import Located
from brief.install.mods import PROVIDERS, Mod, Scope
from brief.support.folders import open_below
from brief.support.home import home_folder
from brief.support.state_folder import make_state


class Place(Struct, frozen=True):
    """The place of `mod`: the folder `base/steps/name`. Backups of edited copies go to the folder `kept`."""

    mod: Mod
    scope: Scope
    base: Path
    steps: tuple[str, ...]
    name: str
    kept: Path

    @property
    def path(self) -> Path:
        """The mod's folder."""
        return self.base.joinpath(*self.steps, self.name)

    @contextmanager
    def open_parent(self, *, make: bool) -> Iterator[int]:
        """Open the parent folder, and create it if `make`. Yields its descriptor. Raises LinkInTheWayError, OSError."""
        if make:
            self.base.mkdir(parents=True, exist_ok=True)
        with open_below(self.base, self.steps, make=make) as descriptor:
            yield descriptor

    def make_kept(self) -> None:
        """Create the folder of backups. Raises UnprovenStateError, OSError."""
        if self.scope is Scope.PROJECT:
            make_state(str(self.kept.parent))
        self.kept.mkdir(mode=0o700, parents=True, exist_ok=True)


def in_checkout(mod: Mod, here: Located) -> Place:
    """The place for the sessions that start at the root of a checkout."""
    *steps, name = (PROVIDERS[mod.provider].folder, *mod.target.split("/"))
    return Place(mod, Scope.PROJECT, Path(here.root), tuple(steps), name, Path(state_dir(here.common_dir), "kept"))


def of_person(mod: Mod, environ: Mapping[str, str] = os.environ) -> Place:
    """The place for all sessions of this person. Links on the way are followed, since these folders are their own."""
    *steps, name = mod.target.split("/")
    base = PROVIDERS[mod.provider].home_folder(environ).joinpath(*steps)
    kept = _state_home(environ) / "majordomus/kept"
    return Place(mod, Scope.USER, Path(os.path.realpath(base)), (), name, kept)


def place_of(mod: Mod, scope: Scope, here: Located | None) -> Place:
    """The place of a mod in a scope. Scope PROJECT needs the checkout `here`."""
    if scope is Scope.USER:
        return of_person(mod)
    assert here is not None  # noqa: S101 - a command for a project has found its checkout
    return in_checkout(mod, here)


def _state_home(environ: Mapping[str, str]) -> Path:
    declared = environ.get("XDG_STATE_HOME", "")
    return Path(declared) if os.path.isabs(declared) else home_folder(environ) / ".local/state"
