"""What an installed mod consists of: the shipped files without their tests, the command to start, and the marker."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from brief import __version__
from brief.install.mods import Mod, Scope
from brief.support.files import read_bounded

MARKER_SCHEMA = "majordomus.mod/v1"
INSTALLED = "hooks/installed.ts"
"""The module that the installation writes in place of the shipped one: what cannot be known before."""

SCRIPT = "majordomus"
"""The script that an installer of packages makes for this command."""

MOST_BYTES = 1_048_576
"""Bytes of one file; the shipped ones have some thousands."""

Files = Mapping[str, bytes]
"""The files of a folder by their path in it, with `/`."""


def own_command(called: str) -> tuple[str, ...]:
    """The words that start this command, isolated from the environment and the folder of whoever starts it.

    They are the script that was `called`, as it was found, so that they outlive an upgrade; where none of ours was, as
    under `python -m brief`, the one beside this interpreter, and without that the module.
    """
    for script in (os.path.abspath(called), os.path.join(os.path.dirname(sys.executable), SCRIPT)):
        if os.path.basename(script) == SCRIPT and os.path.isfile(script) and os.access(script, os.X_OK):
            return (script,)
    return (sys.executable, "-I", "-m", "brief")


def content(mod: Mod, source: Path, scope: Scope, command: Sequence[str]) -> Files:
    """Every file that is to lie in the mod's folder. Raises OSError, UnreadableFileError."""
    files = {name: read_bounded(str(source / name), MOST_BYTES) for name in sorted(_shipped(source))}
    if INSTALLED in files:
        files[INSTALLED] = _installed(scope, command)
    return {**files, mod.marker: _marker(mod, files)}


def laid_by_client(name: str) -> bool:
    """Whether the client itself puts this file into a mod's folder: the types of its interface, and where to find them."""
    return name == "tsconfig.json" or name.startswith(".claude-plugin/types/")


def written_last(mod: Mod, files: Files) -> Files | None:
    """The digests of the files that an earlier installation wrote, by the marker; None where it is not ours."""
    try:
        document = json.loads(files.get(mod.marker, b""))
        known = {MARKER_SCHEMA: document["files"]}[document["schema"]]
        is_ours = document["mod"] == mod.name
        return {str(name): str(digest).encode() for name, digest in known.items()} if is_ours else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def digest(text: bytes) -> bytes:
    """What tells one content from another."""
    return hashlib.sha256(text).hexdigest().encode()


def _shipped(source: Path) -> Iterator[str]:
    for folder, _, names in os.walk(source):
        for name in names:
            path = PurePosixPath((Path(folder) / name).relative_to(source))
            if not (_is_test(path) or laid_by_client(str(path))):
                yield str(path)


def _is_test(path: PurePosixPath) -> bool:
    return path.parts[0] == "tests" or ".test." in path.name


def _installed(scope: Scope, command: Sequence[str]) -> bytes:
    lines = (
        "// Written by majordomus capture install.",
        f"export const COMMAND: readonly string[] = {json.dumps(list(command))}",
        f"export const SCOPE: 'project' | 'user' = {json.dumps(scope.value)}",
    )
    return ("\n".join(lines) + "\n").encode()


def _marker(mod: Mod, files: Files) -> bytes:
    document = {
        "schema": MARKER_SCHEMA,
        "mod": mod.name,
        "version": __version__,
        "files": {name: digest(text).decode() for name, text in files.items()},
    }
    return json.dumps(document, indent=1).encode() + b"\n"
