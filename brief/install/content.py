"""The content of an installed mod: the shipped files without their tests, the command to start, and the marker."""

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
"""The module that the installation generates in place of the shipped one: it holds this machine's command and scope."""

SCRIPT = "majordomus"
"""The script that a package installer creates for this command."""

MOST_BYTES = 1_048_576
"""The most bytes of one file. The shipped files have a few thousand."""

Files = Mapping[str, bytes]
"""The content of a folder's files by relative path, with `/`."""


def own_command(called: str) -> tuple[str, ...]:
    """The words that start this command, independent of the environment and the current folder of the caller.

    They name the script that was `called`, by its unresolved path, so that they survive an upgrade. If it was not our
    script, as with `python -m brief`, they name the script beside this interpreter, else the module.
    """
    for script in (os.path.abspath(called), os.path.join(os.path.dirname(sys.executable), SCRIPT)):
        if os.path.basename(script) == SCRIPT and os.path.isfile(script) and os.access(script, os.X_OK):
            return (script,)
    return (sys.executable, "-I", "-m", "brief")


def make_content(mod: Mod, source: Path, scope: Scope, command: Sequence[str]) -> Files:
    """All files of the mod's folder, to be written. Raises OSError, UnreadableFileError."""
    files = {name: read_bounded(str(source / name), MOST_BYTES) for name in sorted(_list_shipped(source))}
    if INSTALLED in files:
        files[INSTALLED] = _render_installed(scope, command)
    return {**files, mod.marker: _render_marker(mod, files)}


def is_client_file(name: str) -> bool:
    """Whether the client itself writes this file into a mod's folder: its interface's types, and the path to them."""
    return name == "tsconfig.json" or name.startswith(".claude-plugin/types/")


def read_marker(mod: Mod, files: Files) -> Files | None:
    """The digests of the files that the last installation wrote, from the marker. None if the folder is not ours."""
    try:
        document = json.loads(files.get(mod.marker, b""))
        known = {MARKER_SCHEMA: document["files"]}[document["schema"]]
        is_ours = document["mod"] == mod.name
        return {str(name): str(digest).encode() for name, digest in known.items()} if is_ours else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def digest_file(text: bytes) -> bytes:
    """The hexadecimal SHA-256 of a file's content."""
    return hashlib.sha256(text).hexdigest().encode()


def _list_shipped(source: Path) -> Iterator[str]:
    for folder, _, names in os.walk(source):
        for name in names:
            path = PurePosixPath((Path(folder) / name).relative_to(source))
            if not (_is_test(path) or is_client_file(str(path))):
                yield str(path)


def _is_test(path: PurePosixPath) -> bool:
    return path.parts[0] == "tests" or ".test." in path.name


def _render_installed(scope: Scope, command: Sequence[str]) -> bytes:
    lines = (
        "// Written by majordomus capture install.",
        f"export const COMMAND: readonly string[] = {json.dumps(list(command))}",
        f"export const SCOPE: 'project' | 'user' = {json.dumps(scope.value)}",
    )
    return ("\n".join(lines) + "\n").encode()


def _render_marker(mod: Mod, files: Files) -> bytes:
    document = {
        "schema": MARKER_SCHEMA,
        "mod": mod.name,
        "version": __version__,
        "files": {name: digest_file(text).decode() for name, text in files.items()},
    }
    return json.dumps(document, indent=1).encode() + b"\n"
