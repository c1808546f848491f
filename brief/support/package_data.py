"""The files that ship with the tool: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

from pathlib import Path

from brief.core.model.errors import MajordomusError

_PACKAGE = Path(__file__).parents[1]


class ResourceError(MajordomusError):
    """A file that ships with the tool is missing."""


def policy_file(name: str) -> Path:
    """The path of the file `name` in the folder `policy`. Raises ResourceError if it is missing."""
    return _require(_data_folder(_PACKAGE) / "policy" / name)


def mod_folder(source: str) -> Path:
    """The folder of a shipped mod, such as `claude-code/majordomus-brief`. Raises ResourceError if it is missing."""
    return _require(_data_folder(_PACKAGE) / "mods" / source / "hooks/hooks.json").parents[1]


def schema_file(name: str) -> Path:
    """The path of a published JSON Schema, such as `brief-v1.json`. Raises ResourceError if it is missing."""
    return _require(_PACKAGE / "schema" / name)


def _require(path: Path) -> Path:
    if not path.is_file():
        raise ResourceError(f"{path} is missing, although it ships with majordomus; install majordomus-brief again")
    return path


def _data_folder(package: Path) -> Path:
    """The folder that holds the shipped folders. A wheel has `_data`; a checkout never does."""
    shipped = package / "_data"
    return shipped if shipped.is_dir() else package.parent
