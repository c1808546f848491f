"""List a folder of notices without reading it: the files in `active/`, and why some of them must not be read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from brief.core.notices.locks import LOCK_PREFIX
from brief.core.notices.notice import LIMIT
from brief.core.text.sanitize import to_wire
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.fastpath.proof import UnprovenError, check, open_file
from brief.support.files import (
    Stamp,
    UnreadableFileError,
    read_bounded,
    read_descriptor,
    reason_of,
    stamp_of,
)
from brief.support.state_folder import is_of_state

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

MOST_FILES = 10_000
MOST_BYTES = 32 * 1024 * 1024
MOST_NAMES = 500_000
"""How many entries of a folder are listed. Only the names are kept of those that are not read."""

_SUFFIX = ".md"


class NoticeFile(Struct, frozen=True):
    """A file that should be a notice: its `path` as it is named, and the `target` that holds its content.

    `slug` is the name without `.md`, and `fault` says why the file must not be opened. In the state folder of a
    repository it `must_be_own`: belong to the user, and not be a link.
    """

    path: str
    slug: str
    target: str
    stamp: Stamp | None
    fault: str | None = None
    must_be_own: bool = False

    def read(self) -> bytes:
        """Its bytes, at most `LIMIT`. Raises FileNotFoundError and UnreadableFileError."""
        if not self.must_be_own:
            return read_bounded(self.target, LIMIT)
        try:
            descriptor = open_file(self.path, tighten=True)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise UnreadableFileError(reason_of(error).removeprefix(f"{self.path} ")) from error
        try:
            return read_descriptor(descriptor, LIMIT)
        finally:
            os.close(descriptor)


class Folder(Struct, frozen=True):
    """The files of a folder, sorted by slug. `reason` says why some or all of it cannot be read.

    `left_out` are the slugs of the files beyond the limits. `is_listed` is False if not even all names are known.
    `seen` are the names and stamps that show at the next listing whether anything has changed. It is None if they could
    not show it, as with a link.
    """

    path: str
    files: tuple[NoticeFile, ...] = ()
    reason: str | None = None
    left_out: tuple[str, ...] = ()
    is_listed: bool = True
    seen: tuple[tuple[str, Stamp], ...] | None = None


def list_folder(path: str, last: Folder | None = None) -> Folder:
    """List the files `*.md` in `active/` of a folder, at most 10,000 of them and 32 MiB. There are none without a folder.

    Files that are named like locks are never left out in favour of others. Names that start with a dot belong to editors
    or to half-written files, and are ignored. `last` is an earlier listing: if nothing has changed it is returned, at the
    cost of one stat per file; otherwise its unchanged files are kept.
    """
    if reason := leads_out(path, "active"):
        return Folder(path, reason=reason, is_listed=False)
    try:
        descriptor = os.open(f"{path}/active", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return Folder(path)
    except OSError as error:
        return Folder(path, reason=f"cannot be listed: {reason_of(error)}", is_listed=False)
    try:
        # With a descriptor the kernel need not resolve the path of the folder again for every file.
        with os.scandir(descriptor) as entries:
            listed, more = _choose_listed(entries)
            seen = _stamp_entries(listed)
            if last is not None and seen is not None and seen == last.seen:
                return last
            known = {file.path: file for file in last.files} if last else {}
            files, left_out = _gather(listed, path, known)
    except OSError as error:
        return Folder(path, reason=f"cannot be listed: {reason_of(error)}", is_listed=False)
    finally:
        os.close(descriptor)
    ordered = tuple(sorted(files, key=lambda file: file.slug))
    reason = _why_partial(len(listed), len(left_out), more=more)
    return Folder(path, ordered, reason, left_out, is_listed=not more, seen=seen)


def find_file(path: str, slug: str) -> Reading[NoticeFile]:
    """The file of one slug, looked up by its name, so that the limits of a listing do not matter."""
    if "/" in slug or "\0" in slug or slug.startswith("."):
        return ABSENT
    if reason := leads_out(path, "active"):
        return Unknown(f"cannot be accessed: {reason}")
    named = _path_of(path, slug)
    try:
        return Known(_make_file(named, os.lstat(named), path))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as error:
        return Unknown(f"cannot be accessed: {reason_of(error)}")


def find_named_file(path: str, slug: str) -> NoticeFile | None:
    """The file of one slug, None if it does not exist. It has a fault if that is unknown."""
    found = find_file(path, slug)
    if isinstance(found, Unknown):
        return NoticeFile(_path_of(path, slug), slug, _path_of(path, slug), None, found.reason)
    return found.value if isinstance(found, Known) else None


def _path_of(path: str, slug: str) -> str:
    return f"{path}/active/{slug}{_SUFFIX}"


def _choose_listed(entries: Iterator[os.DirEntry[str]]) -> tuple[list[os.DirEntry[str]], bool]:
    """The entries that are named like notices, and whether there are more. If there are many, locks come first."""
    some = islice(entries, MOST_NAMES)
    found = [entry for entry in some if (name := entry.name)[-3:] == _SUFFIX and name[0] != "."]
    if len(found) > MOST_FILES:
        found.sort(key=lambda entry: not entry.name.startswith(LOCK_PREFIX))
    return found, next(entries, None) is not None


def _stamp_entries(listed: Sequence[os.DirEntry[str]]) -> tuple[tuple[str, Stamp], ...] | None:
    """Name and stamp of each entry; None where one is a link, whose target may change, or cannot be accessed."""
    stamps = []
    try:
        for entry in listed:
            if entry.is_symlink():
                return None
            found = entry.stat(follow_symlinks=False)
            stamps.append((entry.name, (found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino)))
    except OSError:
        return None
    return tuple(stamps)


def is_linked(path: str, name: str) -> str | None:
    """Why the subfolder `name` must not be written to. None if it may be, or does not exist."""
    if is_of_state(path):
        return _why_unproven(path, name)
    if os.path.islink(f"{path}/{name}"):
        return f"its folder {name} is a link, and links are not followed for writing"
    return None


def leads_out(path: str, name: str) -> str | None:
    """Why the subfolder `name` must not be entered. None if it may be, or does not exist."""
    if is_of_state(path):
        return _why_unproven(path, name)
    inner = f"{path}/{name}"
    if os.path.islink(inner) and not _is_inside(os.path.realpath(inner), path):
        return f"its folder {name} is a link that leads out of it"
    return None


def _why_unproven(path: str, name: str) -> str | None:
    """Why a folder of the state, or its subfolder, is no longer proven the user's. It may be swapped under a server."""
    try:
        check(os.lstat(path), path, is_folder=True)
        check(os.lstat(f"{path}/{name}"), f"its folder {name}", is_folder=True)
    except FileNotFoundError:
        return None
    except OSError as error:
        return reason_of(error).removeprefix(f"{path} ")
    return None


def _gather(
    listed: Sequence[os.DirEntry[str]], folder: str, known: Mapping[str, NoticeFile]
) -> tuple[list[NoticeFile], tuple[str, ...]]:
    """The files of the entries within the limits, and the slugs of the others."""
    files: list[NoticeFile] = []
    must_be_own = is_of_state(folder)
    room = MOST_BYTES
    for count, entry in enumerate(listed):
        if count == MOST_FILES or room < 0:
            return files, tuple(entry.name.removesuffix(_SUFFIX) for entry in listed[count:])
        path = f"{folder}/active/{entry.name}"
        try:
            found = entry.stat(follow_symlinks=False)
            file = _reuse_unchanged(known.get(path), found, must_be_own=must_be_own) or _make_file(
                path, found, folder, must_be_own=must_be_own
            )
        except FileNotFoundError:
            continue  # it was removed meanwhile
        except OSError as error:
            fault = f"cannot be accessed: {reason_of(error)}"
            file = NoticeFile(path, entry.name.removesuffix(_SUFFIX), path, None, fault)
        files.append(file)
        room -= _count_bytes(file)
    return files, ()


def _reuse_unchanged(known: NoticeFile | None, found: os.stat_result, *, must_be_own: bool) -> NoticeFile | None:
    """The file of an earlier listing if it is unchanged. Never a link, since its stamp is that of its target."""
    if known is None or known.stamp != stamp_of(found) or known.must_be_own is not must_be_own:
        return None
    return known


def _why_partial(count: int, left_out: int, *, more: bool) -> str | None:
    """Why a folder was not read in full, and what to do about it. None if it was."""
    if more:
        return f"holds more than {MOST_NAMES:,} entries, and not all of them were listed; archive what is done"
    if left_out:
        return f"holds {count:,} files, and {left_out:,} of them were not read; archive what is done"
    return None


def _make_file(path: str, found: os.stat_result, folder: str, *, must_be_own: bool = False) -> NoticeFile:
    """The file at a path. `found` describes the entry itself. Raises OSError for a link that cannot be followed."""
    slug = os.path.basename(path).removesuffix(_SUFFIX)
    if must_be_own:
        return NoticeFile(path, slug, path, stamp_of(found), _fault_of_own(path, found), must_be_own=True)
    if not stat.S_ISLNK(found.st_mode):
        return NoticeFile(path, slug, path, stamp_of(found), _find_fault(path, found))
    target = os.path.realpath(path)
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return NoticeFile(path, slug, target, None, "is a link to nothing")
    except OSError as error:
        return NoticeFile(path, slug, target, None, f"cannot be accessed: {reason_of(error)}")
    leads_away = None if _is_inside(target, folder) else "is a link that leads out of its folder"
    return NoticeFile(path, slug, target, stamp_of(found), leads_away or _find_fault(path, found))


def _fault_of_own(path: str, found: os.stat_result) -> str | None:
    try:
        check(found, path, is_folder=False, may_be_wide=True)
    except UnprovenError as error:
        return str(error).removeprefix(f"{path} ")
    return _find_fault(path, found)


def _find_fault(path: str, found: os.stat_result) -> str | None:
    if not stat.S_ISREG(found.st_mode):
        return "is not a regular file"
    name = os.path.basename(path)
    if to_wire(name) != name:
        return "has a name that is not UTF-8; rename it"
    return None


def _count_bytes(file: NoticeFile) -> int:
    """The number of bytes that will be read from a file: none if it is refused."""
    return file.stamp[2] if file.stamp and not file.fault and file.stamp[2] <= LIMIT else 0


def _is_inside(target: str, folder: str) -> bool:
    return target.startswith(os.path.realpath(folder) + os.sep)
