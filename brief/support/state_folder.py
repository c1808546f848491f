"""Prove that a repository's state folder is the user's own, before anything in it is read, written or deleted.

This is proven once in the life of a process. Anyone who may write to the git folder could replace the state folder
afterwards, but could as well plant a git hook, which git runs as the user: so that gives them nothing new.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from functools import cache

from brief.core.model.errors import MajordomusError
from brief.core.text.sanitize import clean, to_wire
from brief.fastpath.lease import STATE
from brief.fastpath.proof import (
    WRITABLE_BY_OTHERS,
    UnprovenError,
    check,
    check_git_folder,
    check_only_name,
    open_file,
    open_folder,
)
from brief.support.files import UnreadableFileError, read_descriptor, reason_of

_WITH_FOLDERS = frozenset({"notices", "notes"})
"""Folders whose subfolders are proven too, with the modes of the files in those corrected."""

_DATABASE = "majordomus.db"

_WRITTEN_IN_PLACE = re.compile(r".+\.lock|majordomus\.db(-wal|-shm|-journal)?|server\.log")
"""Files that must have only one name, since they are written in place. All others are replaced by rename."""


class UnprovenStateError(MajordomusError):
    """The state folder, or something in it, may be somebody else's. Says whose it is."""


def prove_state(state_dir: str) -> None:
    """Prove the folder and its content, and remove the write permission of others from what is ours.

    A missing folder is fine. Raises UnprovenStateError. A single notice, line or mark that is somebody else's is
    refused when it is opened and affects no other; so is a folder in place of a file, or a file in place of a folder.
    """
    try:
        check_git_folder(os.path.dirname(state_dir))
        _prove(state_dir)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as fault:
        raise _make_error(state_dir, fault) from fault


def make_state(state_dir: str) -> None:
    """Create the folder if it is missing, then prove it. Raises UnprovenStateError, OSError."""
    try:
        check_git_folder(os.path.dirname(state_dir))
    except UnprovenError as fault:
        raise _make_error(state_dir, fault) from fault
    with contextlib.suppress(FileExistsError):
        os.mkdir(state_dir, 0o700)
    prove_state(state_dir)


@cache
def refuse_unproven(state_dir: str) -> None:
    """Raise UnprovenStateError unless the folder is proven. It is proven once in the life of the process."""
    prove_state(state_dir)


def read_own(path: str, most: int) -> bytes:
    """Read a file of at most `most` bytes, and prove it at the same time, since it may have been swapped meanwhile.

    Raises UnprovenError, FileNotFoundError, UnreadableFileError.
    """
    try:
        descriptor = open_file(path)
    except (UnprovenError, FileNotFoundError):
        raise
    except OSError as error:
        raise UnreadableFileError(f"cannot be opened: {reason_of(error)}") from error
    try:
        return read_descriptor(descriptor, most)
    finally:
        os.close(descriptor)


def is_of_state(folder: str) -> bool:
    """Whether a folder lies directly in a repository's state folder, so that its content must be the user's own."""
    state = os.path.dirname(folder)
    return os.path.basename(state) == STATE and os.path.lexists(f"{os.path.dirname(state)}/HEAD")


def _make_error(state_dir: str, fault: OSError) -> UnprovenStateError:
    if isinstance(fault, UnprovenError):
        return UnprovenStateError(clean(to_wire(str(fault)), 2_000))
    return UnprovenStateError(f"{clean(to_wire(state_dir), 1_000)} cannot be accessed: {fault.strerror}")


def _prove(folder: str) -> None:
    """Prove a folder, and every file and folder in it."""
    descriptor = open_folder(folder, tighten=True)
    try:
        for name in sorted(os.listdir(descriptor)):
            with contextlib.suppress(FileNotFoundError):  # it went away meanwhile, as a temporary file does
                _prove_entry(folder, name, descriptor)
    finally:
        os.close(descriptor)


def _prove_entry(folder: str, name: str, parent: int) -> None:
    path = f"{folder}/{name}"
    found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if stat.S_ISDIR(found.st_mode):
        # A folder of ours that we may not list counts as proven: reading it will fail and say so.
        with _accept_unlisted(found, path):
            _prove(path) if name in _WITH_FOLDERS else _tighten_all(open_folder(name, parent, name=path, tighten=True))
    else:
        check(found, path, is_folder=False, may_be_wide=True)
        if _WRITTEN_IN_PLACE.fullmatch(name) and found.st_nlink > 1:
            check_only_name(found, path, unfinished=_count_unfinished(found, parent))
        _tighten(name, parent, found)


def _count_unfinished(found: os.stat_result, folder: int) -> int:
    """How many of a file's names are temporary ones, under which we create a file before it is linked into place."""
    names = [name for name in os.listdir(folder) if name.startswith(".") and name.endswith(".tmp")]
    return sum(os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), found) for name in names)


@contextlib.contextmanager
def _accept_unlisted(found: os.stat_result, path: str) -> Iterator[None]:
    """Accept a folder that is ours although its mode denies us access."""
    try:
        yield
    except PermissionError:
        check(found, path, is_folder=True)


def _tighten_all(folder: int) -> None:
    """Remove the write permission of others from our files in a folder. Closes the descriptor."""
    try:
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                _tighten(name, folder, os.stat(name, dir_fd=folder, follow_symlinks=False))
    finally:
        os.close(folder)


def _tighten(name: str, parent: int, found: os.stat_result) -> None:
    """Tighten a file of ours. One of the database is not opened: closing it would drop the locks of this very process."""
    if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_mode & WRITABLE_BY_OTHERS:
        if name.startswith(_DATABASE):
            os.chmod(name, 0o600, dir_fd=parent)
        else:
            os.close(open_file(name, parent, tighten=True))
