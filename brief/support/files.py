"""Files of other hands: read with a bound and never waited for, written whole or not at all, known by their stamp."""

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
"""Change time and modification time in nanoseconds, size in bytes, inode: equal stamps, equal content."""

_YOUNG_NS = 50_000_000


class UnreadableFileError(MajordomusError):
    """Why a file was not read, as the rest of a sentence that begins with its name."""


def stamp_of(found: os.stat_result) -> Stamp:
    """The stamp of a file that was looked at."""
    return found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino


def stamp(path: str) -> Stamp | None:
    """The stamp of the file at `path`, links followed; None where nothing can be looked at."""
    try:
        return stamp_of(os.stat(path))
    except (OSError, ValueError):
        return None


def any_young(stamps: Iterable[Stamp | None]) -> bool:
    """Whether one of the files is young now."""
    now = time.time_ns()
    return any(each is not None and is_young(each, now) for each in stamps)


def is_young(stamp: Stamp, now_ns: int) -> bool:
    """Whether a file changed so lately that a further change could hide behind the same stamp.

    Clocks of file systems tick every few milliseconds, and a freed inode is given out again at once.
    """
    return 0 <= now_ns - stamp[0] < _YOUNG_NS


def read_bounded(path: str, most: int) -> bytes:
    """The content of a regular file of at most `most` bytes; never follows a link at `path`, never waits.

    Raises FileNotFoundError where nothing is there, UnreadableFileError for all else.
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
    """The content of an open regular file of at most `most` bytes; raises UnreadableFileError. It stays open."""
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableFileError("is not a regular file")
        if found.st_size > most:
            raise UnreadableFileError(f"holds {found.st_size:,} bytes, more than the {most:,} that are read")
        return _read(descriptor, most)
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {reason_of(error)}") from error


def _read(descriptor: int, most: int) -> bytes:
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise UnreadableFileError(f"grew past the {most:,} bytes that are read")
    return content


def replace(path: str | os.PathLike[str], content: bytes, mode: int = 0o600) -> None:
    """Put `content` at `path` by rename: a reader, and a crash, finds the old or the new.

    Raises OSError, SupersededError.
    """
    with _written(path, content, mode) as temporary:
        refuse_if_superseded()
        os.replace(temporary, path)


def create(path: str | os.PathLike[str], content: bytes) -> None:
    """Put `content` at `path`, whole at once, where nothing is yet; raises FileExistsError, OSError, SupersededError."""
    with _written(path, content, 0o600) as temporary:
        refuse_if_superseded()
        os.link(temporary, path)
        os.unlink(temporary)


@contextlib.contextmanager
def _written(path: str | os.PathLike[str], content: bytes, mode: int) -> Iterator[str]:
    """A file beside `path` with the content on the disk, gone where the caller fails to put it in its place."""
    refuse_if_superseded()
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    # Not named after the path, whose name may be as long as names can be.
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
    """Wait until the disk has the names in a folder. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def reason_of(error: Exception) -> str:
    """What the system said, in its own words and without the path, which the sentence names already."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
