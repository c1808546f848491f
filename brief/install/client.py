"""Whether the client on this machine loads mods, and why not, from its own files; they are read and never written."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brief.fastpath.known import ABSENT, Known, Unknown
from brief.install.mods import PROVIDERS, Mod, Scope
from brief.support.files import UnreadableFileError, read_bounded, reason_of
from brief.support.programs import find_program, search_path

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

FIRST_WITH_MODS = (2, 1, 287)
FLAG = "tengu_plugin_hooks_modules"
"""The client's own switch for mods, kept from its last session that was online."""

_MOST_BYTES = 16_777_216
_ASK_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Client:
    """The client's version, None where it cannot be told, and a sentence for every reason that keeps a mod out.

    `doubts` are sentences for what could not be found out: while there is one, nobody knows that the mod is loaded.
    """

    version: str | None
    reasons: tuple[str, ...]
    doubts: tuple[str, ...] = ()


def examine(mod: Mod, scope: Scope, root: str | None, folder: str, environ: Mapping[str, str] = os.environ) -> Client:
    """Look at what decides whether a session that starts in `folder` of the checkout `root` loads the mod."""
    home = PROVIDERS[mod.provider].home(environ)
    version = _version(folder, environ)
    reasons = [*_too_old(version), *_switched_off(mod, home, root, environ)]
    if scope is Scope.PROJECT and root is not None:
        reasons += [*_shadowed(mod, home), *_unscanned(home, root, folder, environ)]
    return Client(version, tuple(reasons), tuple(_doubts(version, home, root, environ)))


def _version(folder: str, environ: Mapping[str, str]) -> str | None:
    """What the client on PATH says, started where it reads no file of the repository."""
    found = find_program("claude", folder, environ)
    if not isinstance(found, Known):
        return None
    env = {**environ, "PATH": search_path(folder, environ)}
    try:
        said = subprocess.run(
            [found.value, "--version"], capture_output=True, timeout=_ASK_SECONDS, check=False, env=env, cwd="/"
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.match(r"\d+\.\d+\.\d+", said)
    return version[0] if version else None


def _too_old(version: str | None) -> Iterator[str]:
    needed = ".".join(map(str, FIRST_WITH_MODS))
    if version is not None and tuple(map(int, version.split("."))) < FIRST_WITH_MODS:
        yield f"claude {version} loads no mods; they need {needed} or newer"


def _doubts(version: str | None, home: Path, root: str | None, environ: Mapping[str, str]) -> Iterator[str]:
    needed = ".".join(map(str, FIRST_WITH_MODS))
    if version is None:
        yield f"claude is not on PATH outside the repository, or does not tell its version; mods need {needed} or newer"
    for path in (_own_file(home, environ), *settings_files(home, root)):
        found = look_at_document(path)
        if isinstance(found, Unknown):
            yield f"{path} {found.reason}, and may keep the mod out; mend it"


def _switched_off(mod: Mod, home: Path, root: str | None, environ: Mapping[str, str]) -> Iterator[str]:
    own = _own_file(home, environ)
    is_offline = any(environ.get(name) for name in ("DISABLE_TELEMETRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"))
    if inner(read_document(own), "cachedGrowthBookFeatures").get(FLAG) is False and not is_offline:
        yield f"{own} says {FLAG} false: the client's rollout of mods has not reached this person"
    for path in settings_files(home, root):
        settings = read_document(path)
        if settings.get("disableAllHooks") is True:
            yield f"{path} sets disableAllHooks, which keeps mods out too"
        if inner(settings, "enabledPlugins").get(f"{mod.name}@skills-dir") is False:
            yield f"{path} turns {mod.name}@skills-dir off under enabledPlugins"


def settings_files(home: Path, root: str | None) -> Iterator[Path]:
    """The settings that are in force in a checkout, those that count least first; the person's alone without one."""
    yield home / "settings.json"
    if root is not None:
        yield Path(root, ".claude/settings.json")
        yield Path(root, ".claude/settings.local.json")


def _shadowed(mod: Mod, home: Path) -> Iterator[str]:
    own = home / mod.target
    if (own / ".claude-plugin").is_dir():
        yield f"{own} has the same name and is loaded in its place; one of the two is enough"


def _unscanned(home: Path, root: str, folder: str, environ: Mapping[str, str]) -> Iterator[str]:
    if os.path.realpath(folder) != os.path.realpath(root):
        yield f"a session that starts in {folder} does not load it: the client looks in the folder it starts in alone"
    own = _own_file(home, environ)
    document = look_at_document(own)
    if isinstance(document, Unknown):
        return  # which is among the doubts
    trusted = inner(document.value if isinstance(document, Known) else {}, "projects")
    if not any(
        inner(trusted, str(each)).get("hasTrustDialogAccepted") is True for each in (Path(root), *Path(root).parents)
    ):
        yield f"the client does not trust {root} yet; start it there once and accept its question"


def _own_file(home: Path, environ: Mapping[str, str]) -> Path:
    """Where the client keeps its state: in its folder where a variable names that, else beside it."""
    return (home if environ.get("CLAUDE_CONFIG_DIR") else home.parent) / ".claude.json"


def read_document(path: Path) -> dict[str, Any]:
    """The JSON object that a file of the client holds; empty where it holds none."""
    found = look_at_document(path)
    return found.value if isinstance(found, Known) else {}


def look_at_document(path: Path) -> Reading[dict[str, Any]]:
    """The JSON object that a file of the client holds."""
    try:
        document = json.loads(read_bounded(os.path.realpath(path), _MOST_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except (OSError, UnreadableFileError) as fault:
        return Unknown(f"cannot be read ({reason_of(fault)})")
    except (ValueError, RecursionError):
        return Unknown("holds no JSON")
    return Known(document) if isinstance(document, dict) else Unknown("holds no JSON object")


def inner(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object under a name; empty where there is none."""
    value = document.get(name)
    return value if isinstance(value, dict) else {}
