"""A folder of files that is read, replaced and removed as a whole, through the descriptor of its parent folder."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import PurePosixPath

from brief.install.content import MOST_BYTES, Files

MOST_FILES = 2_000
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_UNREAD = b"\0not read"


class Kind(StrEnum):
    """The kind of a directory entry."""

    NOTHING = "nothing"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


def find_kind(parent: int, name: str) -> Kind:
    """The kind of the entry `name` in the folder `parent`. Links are not followed."""
    try:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return Kind.NOTHING
    if stat.S_ISLNK(mode):
        return Kind.LINK
    return Kind.FOLDER if stat.S_ISDIR(mode) else Kind.OTHER


def read(parent: int, name: str) -> Files:
    """The files of a folder, at most MOST_FILES.

    An entry that is too large or not a regular file is given a content that no file of ours has.
    """
    files: dict[str, bytes] = {}
    for folder, folders, names, descriptor in os.fwalk(name, dir_fd=parent):
        at = PurePosixPath(folder).relative_to(name)
        links = [each for each in folders if find_kind(descriptor, each) is Kind.LINK]
        for each in (*names, *links):
            if len(files) >= MOST_FILES:
                return files
            files[str(at / each)] = _read_content(descriptor, each)
    return files


def _read_content(parent: int, name: str) -> bytes:
    try:
        descriptor = os.open(name, _READ, dir_fd=parent)
    except OSError:
        return _UNREAD
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return _UNREAD
        text = file.read(MOST_BYTES + 1)
    return text if len(text) <= MOST_BYTES else _UNREAD


@contextmanager
def lock_parent(parent: int, name: str) -> Iterator[None]:
    """Lock out other installations, and remove what an interrupted one left beside the folder."""
    fcntl.flock(parent, fcntl.LOCK_EX)
    try:
        for each in os.listdir(parent):
            if re.fullmatch(rf"\.{re.escape(name)}\.[0-9a-f]{{8}}", each):
                shutil.rmtree(each, ignore_errors=True, dir_fd=parent)
        yield
    finally:
        fcntl.flock(parent, fcntl.LOCK_UN)


def replace(parent: int, name: str, files: Files) -> None:
    """Replace the folder `name` with one of exactly these files. It is never seen half-written. Raises OSError."""
    fresh, old = _name_aside(name), _name_aside(name)
    try:
        _write(parent, fresh, files)
        _exchange(parent, name, fresh, old)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True, dir_fd=parent)
        raise
    shutil.rmtree(old, ignore_errors=True, dir_fd=parent)


def remove(parent: int, name: str) -> None:
    """Remove the folder. It is renamed first, so that it is never seen half-removed. Raises OSError."""
    old = _name_aside(name)
    os.rename(name, old, src_dir_fd=parent, dst_dir_fd=parent)
    shutil.rmtree(old, ignore_errors=True, dir_fd=parent)


def _exchange(parent: int, name: str, fresh: str, old: str) -> None:
    with suppress(FileNotFoundError):
        os.rename(name, old, src_dir_fd=parent, dst_dir_fd=parent)
    try:
        os.rename(fresh, name, src_dir_fd=parent, dst_dir_fd=parent)
    except OSError:
        with suppress(FileNotFoundError):
            os.rename(old, name, src_dir_fd=parent, dst_dir_fd=parent)
        raise


def _name_aside(name: str) -> str:
    """A temporary name beside the folder's own. Clients skip names that start with a dot."""
    return f".{name}.{secrets.token_hex(4)}"


def _write(parent: int, name: str, files: Files) -> None:
    os.mkdir(name, dir_fd=parent)
    for path, text in files.items():
        for folder in reversed(PurePosixPath(path).parents[:-1]):
            with suppress(FileExistsError):
                os.mkdir(f"{name}/{folder}", dir_fd=parent)
        with os.fdopen(os.open(f"{name}/{path}", _NEW, 0o644, dir_fd=parent), "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
