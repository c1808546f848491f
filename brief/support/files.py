"""Files that others write too: bounded reads that never block, atomic writes, and stamps that tell of changes."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator

from brief.core.model.errors import MajordomusError
from brief.support.fence import refuse_if_superseded

Stamp = tuple[int, int, int, int]
"""Change and modification time in nanoseconds, size in bytes, inode. Equal stamps mean equal content."""

_YOUNG_NS = 50_000_000


class UnreadableFileError(MajordomusError):
    """Why a file was not read, worded as the rest of a sentence that begins with its name."""


def stamp_of(found: os.stat_result) -> Stamp:
    """The stamp in a stat result."""
    return found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino


def stamp_file(path: str) -> Stamp | None:
    """The stamp of the file at `path`, following links. None if it cannot be read."""
    try:
        return stamp_of(os.stat(path))
    except (OSError, ValueError):
        return None


def any_young(stamps: Iterable[Stamp | None]) -> bool:
    """Whether any of the files is young now."""
    now = time.time_ns()
    return any(each is not None and is_young(each, now) for each in stamps)


def is_young(stamp: Stamp, now_ns: int) -> bool:
    """Whether a file changed so recently that another change could leave its stamp the same.

    Clocks of file systems tick every few milliseconds, and a freed inode may be reused at once.
    """
    return 0 <= now_ns - stamp[0] < _YOUNG_NS


def read_bounded(path: str, most: int) -> bytes:
    """Read a regular file of at most `most` bytes. Does not follow a link at `path`, and never blocks.

    Raises FileNotFoundError if it does not exist, UnreadableFileError if it cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise UnreadableFileError(f"cannot be opened: {reason_of(error)}") from error
    try:
        return read_descriptor(descriptor, most)
    finally:
        os.close(descriptor)


def read_descriptor(descriptor: int, most: int) -> bytes:
    """Read an open regular file of at most `most` bytes, and leave it open. Raises UnreadableFileError."""
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableFileError("is not a regular file")
        if found.st_size > most:
            raise UnreadableFileError(f"has {found.st_size:,} bytes, more than the limit of {most:,}")
        return _read(descriptor, most)
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {reason_of(error)}") from error


def _read(descriptor: int, most: int) -> bytes:
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise UnreadableFileError(f"grew past the limit of {most:,} bytes")
    return content


def replace(path: str | os.PathLike[str], content: bytes, mode: int = 0o600) -> None:
    """Write `content` to `path` atomically, by rename: a reader, and a crash, sees the old content or the new.

    Raises OSError, SupersededError.
    """
    with _temporary_file(path, content, mode) as temporary:
        refuse_if_superseded()
        os.replace(temporary, path)


def create(path: str | os.PathLike[str], content: bytes) -> None:
    """Create `path` with `content` atomically. Raises FileExistsError, OSError, SupersededError."""
    with _temporary_file(path, content, 0o600) as temporary:
        refuse_if_superseded()
        os.link(temporary, path)
        os.unlink(temporary)


@contextlib.contextmanager
def _temporary_file(path: str | os.PathLike[str], content: bytes, mode: int) -> Iterator[str]:
    """Write and sync a temporary file beside `path`. It is removed if the block that moves it into place fails."""
    refuse_if_superseded()
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    # Not named after the path, whose name may already have the maximum length.
    descriptor, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Wait until the entries of a folder are on the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def reason_of(error: Exception) -> str:
    """The system's error message, without the path, which the sentence already names."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
