"""Whether the client on this machine loads mods, and if not, why. Its own files say so; they are never written."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from brief.fastpath.known import ABSENT, Known, Unknown
from brief.install.mods import PROVIDERS, Mod, Scope
from brief.support.files import UnreadableFileError, read_bounded, reason_of
from brief.support.programs import find_program, search_path

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

FIRST_WITH_MODS = (2, 1, 287)
FLAG = "tengu_plugin_hooks_modules"
"""The client's own switch for mods, as stored by its last online session."""

_MOST_BYTES = 16_777_216
_ASK_SECONDS = 10


class Client(Struct, frozen=True):
    """The client's version, None if it is unknown, and a sentence for every reason why it does not load a mod.

    `doubts` are sentences about what could not be read. While there is one, it is unknown whether the mod is loaded.
    """

    version: str | None
    reasons: tuple[str, ...]
    doubts: tuple[str, ...] = ()


def examine(mod: Mod, scope: Scope, root: str | None, folder: str, environ: Mapping[str, str] = os.environ) -> Client:
    """Find out whether a session that starts in `folder` of the checkout `root` loads the mod."""
    home = PROVIDERS[mod.provider].home_folder(environ)
    version = _ask_version(folder, environ)
    reasons = [*_too_old(version), *_find_switches(mod, home, root, environ)]
    if scope is Scope.PROJECT and root is not None:
        reasons += [*_find_shadowing(mod, home), *_find_unscanned(home, root, folder, environ)]
    return Client(version, tuple(reasons), tuple(_find_doubts(version, home, root, environ)))


def _ask_version(folder: str, environ: Mapping[str, str]) -> str | None:
    """The version of the client on PATH, which is started in `/` so that it reads no file of the repository."""
    found = find_program("claude", folder, environ)
    if not isinstance(found, Known):
        return None
    env = {**environ, "PATH": search_path(folder, environ)}
    try:
        printed = subprocess.run(
            [found.value, "--version"], capture_output=True, timeout=_ASK_SECONDS, check=False, env=env, cwd="/"
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.match(r"\d+\.\d+\.\d+", printed)
    return version[0] if version else None


def _too_old(version: str | None) -> Iterator[str]:
    needed = ".".join(map(str, FIRST_WITH_MODS))
    if version is not None and tuple(map(int, version.split("."))) < FIRST_WITH_MODS:
        yield f"claude {version} does not load mods; they need {needed} or newer"


def _find_doubts(version: str | None, home: Path, root: str | None, environ: Mapping[str, str]) -> Iterator[str]:
    needed = ".".join(map(str, FIRST_WITH_MODS))
    if version is None:
        yield f"claude is not on PATH outside the repository, or prints no version; mods need {needed} or newer"
    for path in (_own_file(home, environ), *settings_files(home, root)):
        found = find_document(path)
        if isinstance(found, Unknown):
            yield f"{path} {found.reason}, and may keep the mod from loading; fix it"


def _find_switches(mod: Mod, home: Path, root: str | None, environ: Mapping[str, str]) -> Iterator[str]:
    own = _own_file(home, environ)
    is_offline = any(environ.get(name) for name in ("DISABLE_TELEMETRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"))
    if object_under(read_document(own), "cachedGrowthBookFeatures").get(FLAG) is False and not is_offline:
        yield f"{own} sets {FLAG} to false: the client's rollout of mods has not reached you"
    for path in settings_files(home, root):
        settings = read_document(path)
        if settings.get("disableAllHooks") is True:
            yield f"{path} sets disableAllHooks, which disables mods too"
        if object_under(settings, "enabledPlugins").get(f"{mod.name}@skills-dir") is False:
            yield f"{path} disables {mod.name}@skills-dir under enabledPlugins"


def settings_files(home: Path, root: str | None) -> Iterator[Path]:
    """The settings files in force in a checkout, lowest precedence first. Without a checkout, the person's only."""
    yield home / "settings.json"
    if root is not None:
        yield Path(root, ".claude/settings.json")
        yield Path(root, ".claude/settings.local.json")


def _find_shadowing(mod: Mod, home: Path) -> Iterator[str]:
    own = home / mod.target
    if (own / ".claude-plugin").is_dir():
        yield f"{own} has the same name and is loaded in its place; remove one of the two"


def _find_unscanned(home: Path, root: str, folder: str, environ: Mapping[str, str]) -> Iterator[str]:
    if os.path.realpath(folder) != os.path.realpath(root):
        yield f"a session that starts in {folder} does not load it: the client looks only in the folder it starts in"
    own = _own_file(home, environ)
    document = find_document(own)
    if isinstance(document, Unknown):
        return  # `_find_doubts` says so
    trusted = object_under(document.value if isinstance(document, Known) else {}, "projects")
    if not any(
        object_under(trusted, str(each)).get("hasTrustDialogAccepted") is True
        for each in (Path(root), *Path(root).parents)
    ):
        yield f"the client does not trust {root} yet; start it there once and accept its prompt"


def _own_file(home: Path, environ: Mapping[str, str]) -> Path:
    """The client's state file: in its folder if a variable names that folder, else beside it."""
    return (home if environ.get("CLAUDE_CONFIG_DIR") else home.parent) / ".claude.json"


def read_document(path: Path) -> dict[str, Any]:
    """The JSON object in one of the client's files. Empty if there is none or it cannot be read."""
    found = find_document(path)
    return found.value if isinstance(found, Known) else {}


def find_document(path: Path) -> Reading[dict[str, Any]]:
    """The JSON object in one of the client's files, ABSENT without a file, or why it cannot be read."""
    try:
        document = json.loads(read_bounded(os.path.realpath(path), _MOST_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except (OSError, UnreadableFileError) as fault:
        return Unknown(f"cannot be read ({reason_of(fault)})")
    except (ValueError, RecursionError):
        return Unknown("is not JSON")
    return Known(document) if isinstance(document, dict) else Unknown("is not a JSON object")


def object_under(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object under a name. Empty if there is none."""
    value = document.get(name)
    return value if isinstance(value, dict) else {}
