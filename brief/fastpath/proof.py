"""Prove that a folder or file belongs to the user and that nobody else may write it, before anything in it is believed.

Everything below a git folder is opened through descriptors that follow no link. The git folder itself is reached as git
reaches it, also through links, and its mode (`core.sharedRepository`, umask 002) is left to the person.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from collections.abc import Callable

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class UnprovenError(OSError):
    """A file or folder may belong to somebody else. The message names it, its owner, and what to do."""


accepted: set[str] = set()
"""Other users' git folders that git accepts for this user (`safe.directory`). The whole command asks git and fills this."""


def check_git_folder(common_dir: str) -> None:
    """Raise UnprovenError if the git folder is not the user's own, OSError if it cannot be examined."""
    found = os.stat(common_dir)
    if found.st_uid != os.geteuid() and common_dir not in accepted:
        raise UnprovenError(
            f"{common_dir} belongs to {_describe_user(found.st_uid)}, not to you, so nothing in it is believed; "
            "if you trust it, name its work tree in git config --global --add safe.directory"
        )


def open_folder(path: str, parent: int | None = None, *, name: str | None = None, tighten: bool = False) -> int:
    """Open a folder that is the user's own. `path` is relative to the descriptor `parent`.

    `name` is its full path for messages. With `tighten`, a folder of ours that others may write gets the mode 0700; otherwise
    it is refused. Raises UnprovenError, FileNotFoundError, OSError.
    """
    named = name or path
    try:
        descriptor = os.open(path, FOLDER, dir_fd=parent)
    except FileNotFoundError:
        raise
    except OSError:
        check(os.stat(path, dir_fd=parent, follow_symlinks=False), named, is_folder=True)
        raise
    return _prove_descriptor(descriptor, named, is_folder=True, mode=0o700 if tighten else None)


def open_file(
    path: str, parent: int | None = None, *, flags: int = os.O_RDONLY, name: str | None = None, tighten: bool = False
) -> int:
    """Open a regular file that is the user's own. A new file gets the mode 0600. See `open_folder`.

    A file that is opened to write must have no other name, which the write would reach too.
    """
    named = name or path
    try:
        descriptor = os.open(path, flags | FILE, 0o600, dir_fd=parent)
    except (FileNotFoundError, FileExistsError):
        raise
    except OSError:
        check(os.stat(path, dir_fd=parent, follow_symlinks=False), named, is_folder=False)
        raise
    is_written = flags & os.O_ACCMODE != os.O_RDONLY
    return _prove_descriptor(descriptor, named, is_folder=False, is_written=is_written, mode=0o600 if tighten else None)


def read_file(folder: str, file: str, most: int) -> bytes:
    """Read at most `most` bytes of a file in a folder, both proven. Raises UnprovenError, FileNotFoundError, OSError."""
    descriptor = open_in(folder, file)
    try:
        return os.read(descriptor, most)
    finally:
        os.close(descriptor)


def open_in(folder: str, file: str, *, flags: int = os.O_RDONLY, tighten: bool = False) -> int:
    """Open a file in a folder, both proven. Raises UnprovenError, FileNotFoundError, OSError."""
    parent = open_folder(folder, tighten=tighten)
    try:
        return open_file(file, parent, flags=flags, name=f"{folder}/{file}", tighten=tighten)
    finally:
        os.close(parent)


def check(found: os.stat_result, name: str, *, is_folder: bool, may_be_wide: bool = False) -> None:
    """Raise UnprovenError unless `found`, which must come from lstat, is of the right kind and the user's own.

    With `may_be_wide`, others may write it.
    """
    if stat.S_ISLNK(found.st_mode):
        raise UnprovenError(f"{name} is a symbolic link, so nothing is read or written there; remove it")
    is_kind: Callable[[int], bool] = stat.S_ISDIR if is_folder else stat.S_ISREG
    if not is_kind(found.st_mode):
        kind = "a folder" if is_folder else "a regular file"
        raise UnprovenError(f"{name} is not {kind}, so nothing is read or written there; move it away")
    if found.st_uid != os.geteuid():
        raise UnprovenError(
            f"{name} belongs to {_describe_user(found.st_uid)}, not to you, so nothing is read or written there; move it away"
        )
    if found.st_mode & WRITABLE_BY_OTHERS and not may_be_wide:
        mode = stat.S_IMODE(found.st_mode)
        raise UnprovenError(
            f"{name} can be written by others (mode {mode:04o}), so nothing is read or written there; "
            "run chmod go-w on it if what is in it is yours"
        )


def check_only_name(found: os.stat_result, name: str, *, unfinished: int = 0) -> None:
    """Raise UnprovenError if a file has a second name (a hard link). `unfinished` is how many of its names are temporary ones of ours, which do not count."""
    names = found.st_nlink - unfinished
    if names > 1:
        raise UnprovenError(
            f"{name} has {names} names (hard links), so a write would reach the others too, and nothing is read or written "
            f"there; in a copied repository remove {os.path.dirname(name)}, otherwise replace the file by a copy of it"
        )


def _prove_descriptor(
    descriptor: int, name: str, *, is_folder: bool, is_written: bool = False, mode: int | None
) -> int:
    """Check a descriptor, and close it if it is refused. A wider mode of ours is reduced to `mode`."""
    try:
        found = os.fstat(descriptor)
        check(found, name, is_folder=is_folder, may_be_wide=mode is not None)
        if is_written:
            check_only_name(found, name)
        if mode is not None and found.st_mode & WRITABLE_BY_OTHERS:
            os.fchmod(descriptor, mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _describe_user(uid: int) -> str:
    """A user by name and number."""
    try:
        from pwd import getpwuid  # noqa: PLC0415 - only where something is refused

        return f"{getpwuid(uid).pw_name} (uid {uid})"
    except (ImportError, KeyError):
        return f"uid {uid}"
