"""Where the files lie that ship with the tool: beside the package in a checkout, inside it where a wheel was installed."""

from __future__ import annotations

from pathlib import Path

from brief.core.model.errors import MajordomusError

_PACKAGE = Path(__file__).parents[1]


class ResourceError(MajordomusError):
    """A file that ships with the tool is not where it should be."""


def policy_file(name: str) -> Path:
    """The file `name` of the folder `policy`; raises ResourceError where this installation lacks it."""
    return _there(_home(_PACKAGE) / "policy" / name)


def mod_folder(source: str) -> Path:
    """The folder `source` of the mods that ship, as in `claude-code/majordomus-brief`; raises ResourceError."""
    return _there(_home(_PACKAGE) / "mods" / source / "hooks/hooks.json").parents[1]


def schema_file(name: str) -> Path:
    """The published JSON Schema `name`, as in `brief-v1.json`; raises ResourceError where this installation lacks it."""
    return _there(_PACKAGE / "schema" / name)


def _there(path: Path) -> Path:
    if not path.is_file():
        raise ResourceError(f"{path} is missing, which ships with majordomus; install majordomus-brief again")
    return path


def _home(package: Path) -> Path:
    """The folder that holds the shipped folders: a wheel brings `_data`, a checkout never has it."""
    shipped = package / "_data"
    return shipped if shipped.is_dir() else package.parent
