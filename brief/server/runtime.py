"""The folder for sockets, proven to be the user's alone before anything is put into it."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from brief.clones.entries import is_listening, read_entries
from brief.core.model.errors import RuntimeFolderError
from brief.fastpath.lease import RUNTIME, repository_digest

SOCKET_PATH_BYTES = 104
"""The shortest limit of all supported systems (macOS). Linux allows 108."""


def runtime_folder(environment: Mapping[str, str], socket_name: str) -> Path:
    """The folder for a socket of this name, created if necessary. Raises RuntimeFolderError.

    It is `$XDG_RUNTIME_DIR/majordomus` if that variable names an existing folder and the path is short enough, else a
    folder of ours below the temporary folder.
    """
    given = environment.get("XDG_RUNTIME_DIR", "")
    if given and os.path.isabs(given) and os.path.lexists(given):
        folder = Path(given) / RUNTIME
        if _fits(folder, socket_name):
            _prove(Path(given), private=False)
            return private_folder(folder)
    temporary = tempfile.gettempdir()
    if not os.path.isabs(temporary):
        raise RuntimeFolderError(
            f"the temporary folder is {temporary}, which is not an absolute path; set TMPDIR or XDG_RUNTIME_DIR to one"
        )
    base = Path(temporary) / f"{RUNTIME}-{os.getuid()}"
    folder = base / RUNTIME
    if not _fits(folder, socket_name):
        raise RuntimeFolderError(
            f"{folder} is too long a path for a socket (at most {SOCKET_PATH_BYTES} bytes); set XDG_RUNTIME_DIR to a shorter one"
        )
    private_folder(base)
    return private_folder(folder)


def sweep(folder: Path, common_dir: str) -> None:
    """Remove what killed servers left behind: sockets of this repository, and the entries of servers that are gone.

    The caller must hold the lease, so that no other server of the repository is just creating a socket.
    """
    ours = re.compile(rf"{repository_digest(common_dir)}-[0-9]+\.sock")
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if ours.fullmatch(path.name) and stat.S_ISSOCK(path.lstat().st_mode) and not is_listening(str(path)):
                path.unlink()
    read_entries(str(folder / "servers"))


def _fits(folder: Path, name: str) -> bool:
    return len(os.fsencode(folder / name)) <= SOCKET_PATH_BYTES


def private_folder(folder: Path) -> Path:
    """Create the folder if necessary. Raises RuntimeFolderError if it is a link, or not the user's alone."""
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
    except OSError as fault:
        raise RuntimeFolderError(
            f"{folder} cannot be created ({fault.strerror}); set XDG_RUNTIME_DIR to a folder of yours"
        ) from fault
    _prove(folder, private=True)
    return folder


def _prove(folder: Path, *, private: bool) -> None:
    """Raise RuntimeFolderError for a folder in which someone else could create or replace a socket."""
    try:
        found = folder.lstat()
    except OSError as fault:
        raise RuntimeFolderError(f"{folder} cannot be accessed ({fault.strerror})") from fault
    if stat.S_ISLNK(found.st_mode):
        raise RuntimeFolderError(f"{folder} is a link, whose target may change; put a real folder there")
    if not stat.S_ISDIR(found.st_mode):
        raise RuntimeFolderError(f"{folder} is not a folder; remove it")
    if found.st_uid != os.getuid():
        raise RuntimeFolderError(
            f"{folder} belongs to uid {found.st_uid}, not to you; set XDG_RUNTIME_DIR to a folder of yours"
        )
    forbidden = 0o077 if private else 0o022
    if found.st_mode & forbidden:
        kind = "700" if private else "go-w"
        mode = stat.S_IMODE(found.st_mode)
        raise RuntimeFolderError(f"{folder} is open to others (mode {mode:o}); run chmod {kind} {folder}")
