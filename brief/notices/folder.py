"""One folder of notices, looked at and not yet read: which files lie in `active/`, and what speaks against some."""

from __future__ import annotations

import os
import stat
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from brief.core.notices.notice import LIMIT
from brief.core.text.sanitize import wire
from brief.support.files import Stamp, reason_of, stamp_of

MOST_FILES = 10_000
MOST_BYTES = 32 * 1024 * 1024
_SUFFIX = ".md"


@dataclass(frozen=True, slots=True)
class NoticeFile:
    """A file that should be a notice: its `path` as it is named, `target` where its content lies.

    `slug` is the name without `.md`; `fault` is why it must not be opened.
    """

    path: str
    slug: str
    target: str
    stamp: Stamp | None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Folder:
    """What lies in a folder, by slug; `reason` where some or all of it cannot be read."""

    path: str
    files: tuple[NoticeFile, ...] = ()
    reason: str | None = None


def look(path: str) -> Folder:
    """The files `*.md` in `active/` of the folder, at most 10,000 entries and 32 MiB of them; none where there is none.

    Names that begin with a dot are an editor's or a half-written file.
    """
    active = f"{path}/active"
    if reason := leads_out(path, "active"):
        return Folder(path, reason=reason)
    try:
        with os.scandir(active) as entries:
            files, reason = _gather(entries, path)
    except FileNotFoundError:
        return Folder(path)
    except OSError as error:
        return Folder(path, reason=f"cannot be listed: {reason_of(error)}")
    return Folder(path, tuple(sorted(files, key=lambda file: file.slug)), reason)


def glance(path: str) -> Hashable:
    """What changes with anything that `look` would find, at the cost of one stat a file; nothing is judged."""
    try:
        descriptor = os.open(f"{path}/active", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        return error.errno
    try:
        # By its descriptor the kernel need not walk the path of the folder anew for every file.
        with os.scandir(descriptor) as entries:
            return tuple((entry.name, _seen(entry)) for entry in islice(entries, MOST_FILES + 1))
    except OSError as error:
        return error.errno
    finally:
        os.close(descriptor)


def _seen(entry: os.DirEntry[str]) -> Stamp | int | None:
    """The stamp of what an entry leads to, or the kind of failure."""
    try:
        return stamp_of(entry.stat())
    except OSError as error:
        return error.errno


def leads_out(path: str, name: str) -> str | None:
    """Why the folder `name` of the folder must not be entered; None where it may be, or is not there."""
    inner = f"{path}/{name}"
    if os.path.islink(inner) and not _inside(os.path.realpath(inner), path):
        return f"its folder {name} is a link that leads out of it"
    return None


def _gather(entries: Iterable[os.DirEntry[str]], folder: str) -> tuple[list[NoticeFile], str | None]:
    files: list[NoticeFile] = []
    room = MOST_BYTES
    for count, entry in enumerate(entries):
        if count == MOST_FILES or room < 0:
            return (
                files,
                f"holds more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes and was read in part; {_REMEDY}",
            )
        if entry.name.startswith(".") or not entry.name.endswith(_SUFFIX):
            continue
        for file in _file(entry, folder):
            files.append(file)
            room -= _weight(file)
    return files, None


_REMEDY = "archive what is done"


def _file(entry: os.DirEntry[str], folder: str) -> Iterator[NoticeFile]:
    """The file of an entry; nothing where it went away meanwhile."""
    slug, path = entry.name.removesuffix(_SUFFIX), entry.path
    target = os.path.realpath(path) if entry.is_symlink() else path
    try:
        found = os.stat(target) if entry.is_symlink() else entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        if entry.is_symlink():
            yield NoticeFile(path, slug, target, None, "is a link to nothing")
        return
    except OSError as error:
        yield NoticeFile(path, slug, target, None, f"cannot be looked at: {reason_of(error)}")
        return
    yield NoticeFile(path, slug, target, stamp_of(found), _fault(entry, target, found, folder))


def _fault(entry: os.DirEntry[str], target: str, found: os.stat_result, folder: str) -> str | None:
    if entry.is_symlink() and not _inside(target, folder):
        return "is a link that leads out of its folder"
    if not stat.S_ISREG(found.st_mode):
        return "is not a regular file"
    if wire(entry.name) != entry.name:
        return "has a name that is not UTF-8; rename it"
    return None


def _weight(file: NoticeFile) -> int:
    """The bytes that will be read of a file: none of one that is refused."""
    return file.stamp[2] if file.stamp and not file.fault and file.stamp[2] <= LIMIT else 0


def _inside(target: str, folder: str) -> bool:
    return target.startswith(os.path.realpath(folder) + os.sep)
