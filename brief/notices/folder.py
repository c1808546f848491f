"""One folder of notices, looked at and not yet read: which files lie in `active/`, and what speaks against some."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from brief.core.notices.locks import LOCK_PREFIX
from brief.core.notices.notice import LIMIT
from brief.core.text.sanitize import wire
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
"""How many entries of a folder are listed; their names are all that is held of those that are not read."""

_SUFFIX = ".md"


@dataclass(frozen=True, slots=True)
class NoticeFile:
    """A file that should be a notice: its `path` as it is named, `target` where its content lies.

    `slug` is the name without `.md`; `fault` is why it must not be opened. In the state folder of a repository it
    `must_be_own`: the user's, and no link.
    """

    path: str
    slug: str
    target: str
    stamp: Stamp | None
    fault: str | None = None
    must_be_own: bool = False

    def read(self) -> bytes:
        """Its bytes, at most `LIMIT`; raises FileNotFoundError, UnreadableFileError."""
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


@dataclass(frozen=True, slots=True)
class Folder:
    """What lies in a folder, by slug; `reason` where some or all of it cannot be read.

    `left_out` are the slugs of the files beyond the bounds, and `is_listed` is False where not even all names are known.
    `seen` are the names and stamps by which a later look knows the folder again; None where a stamp shows no change, as
    that of a link does.
    """

    path: str
    files: tuple[NoticeFile, ...] = ()
    reason: str | None = None
    left_out: tuple[str, ...] = ()
    is_listed: bool = True
    seen: tuple[tuple[str, Stamp], ...] | None = None


def look(path: str, last: Folder | None = None) -> Folder:
    """The files `*.md` in `active/` of the folder, at most 10,000 of them and 32 MiB; none where there is no folder.

    Files that are named as locks are never left out for others. Names that begin with a dot are an editor's or a
    half-written file, and do not count. `last` is an earlier look at the folder: where nothing changed it is returned, at
    the cost of one stat a file, and otherwise those of its files that did not change are kept.
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
        # By its descriptor the kernel need not walk the path of the folder anew for every file.
        with os.scandir(descriptor) as entries:
            listed, more = _listed(entries)
            seen = _stamps(listed)
            if last is not None and seen is not None and seen == last.seen:
                return last
            known = {file.path: file for file in last.files} if last else {}
            files, left_out = _gather(listed, path, known)
    except OSError as error:
        return Folder(path, reason=f"cannot be listed: {reason_of(error)}", is_listed=False)
    finally:
        os.close(descriptor)
    ordered = tuple(sorted(files, key=lambda file: file.slug))
    reason = _partial(len(listed), len(left_out), more=more)
    return Folder(path, ordered, reason, left_out, is_listed=not more, seen=seen)


def look_up(path: str, slug: str) -> Reading[NoticeFile]:
    """The file of one slug, found by its name however many others lie there."""
    if "/" in slug or "\0" in slug or slug.startswith("."):
        return ABSENT
    if reason := leads_out(path, "active"):
        return Unknown(f"cannot be accessed: {reason}")
    named = _path(path, slug)
    try:
        return Known(_file(named, os.lstat(named), path))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as error:
        return Unknown(f"cannot be accessed: {reason_of(error)}")


def named_file(path: str, slug: str) -> NoticeFile | None:
    """The file of one slug, with a fault where it cannot be told whether it is there; None where it is not."""
    found = look_up(path, slug)
    if isinstance(found, Unknown):
        return NoticeFile(_path(path, slug), slug, _path(path, slug), None, found.reason)
    return found.value if isinstance(found, Known) else None


def _path(path: str, slug: str) -> str:
    return f"{path}/active/{slug}{_SUFFIX}"


def _listed(entries: Iterator[os.DirEntry[str]]) -> tuple[list[os.DirEntry[str]], bool]:
    """The entries that are named as notices, and whether there are more; of many, those named as locks come first."""
    some = islice(entries, MOST_NAMES)
    found = [entry for entry in some if entry.name.endswith(_SUFFIX) and not entry.name.startswith(".")]
    if len(found) > MOST_FILES:
        found.sort(key=lambda entry: not entry.name.startswith(LOCK_PREFIX))
    return found, next(entries, None) is not None


def _stamps(listed: Sequence[os.DirEntry[str]]) -> tuple[tuple[str, Stamp], ...] | None:
    """Name and stamp of each entry; None where one is a link, whose target may change, or cannot be accessed."""
    stamps = []
    try:
        for entry in listed:
            if entry.is_symlink():
                return None
            stamps.append((entry.name, stamp_of(entry.stat(follow_symlinks=False))))
    except OSError:
        return None
    return tuple(stamps)


def is_linked(path: str, name: str) -> str | None:
    """Why nothing may be written into the folder `name` of the folder; None where it may, or it is not there."""
    if is_of_state(path):
        return _why_unproven(path, name)
    if os.path.islink(f"{path}/{name}"):
        return f"its folder {name} is a link, and none is followed to write"
    return None


def leads_out(path: str, name: str) -> str | None:
    """Why the folder `name` of the folder must not be entered; None where it may be, or is not there."""
    if is_of_state(path):
        return _why_unproven(path, name)
    inner = f"{path}/{name}"
    if os.path.islink(inner) and not _inside(os.path.realpath(inner), path):
        return f"its folder {name} is a link that leads out of it"
    return None


def _why_unproven(path: str, name: str) -> str | None:
    """Why a folder of the state, or the one in it, may be somebody else's by now: it may have been swapped under a server."""
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
    """The files of the entries that the bounds have room for, and the slugs of the others."""
    files: list[NoticeFile] = []
    must_be_own = is_of_state(folder)
    room = MOST_BYTES
    for count, entry in enumerate(listed):
        if count == MOST_FILES or room < 0:
            return files, tuple(entry.name.removesuffix(_SUFFIX) for entry in listed[count:])
        path = f"{folder}/active/{entry.name}"
        try:
            found = entry.stat(follow_symlinks=False)
            file = _unchanged(known.get(path), found, must_be_own=must_be_own) or _file(
                path, found, folder, must_be_own=must_be_own
            )
        except FileNotFoundError:
            continue  # it went away meanwhile
        except OSError as error:
            fault = f"cannot be accessed: {reason_of(error)}"
            file = NoticeFile(path, entry.name.removesuffix(_SUFFIX), path, None, fault)
        files.append(file)
        room -= _weight(file)
    return files, ()


def _unchanged(known: NoticeFile | None, found: os.stat_result, *, must_be_own: bool) -> NoticeFile | None:
    """The file of an earlier look where it is the same; never one that is a link, whose stamp is that of its target."""
    if known is None or known.stamp != stamp_of(found) or known.must_be_own is not must_be_own:
        return None
    return known


def _partial(count: int, left_out: int, *, more: bool) -> str | None:
    """Why a folder was not read in full, and what to do."""
    if more:
        return f"holds more than {MOST_NAMES:,} entries, and not all of them were listed; archive what is done"
    if left_out:
        return f"holds {count:,} files, and {left_out:,} of them were not read; archive what is done"
    return None


def _file(path: str, found: os.stat_result, folder: str, *, must_be_own: bool = False) -> NoticeFile:
    """The file at a path, which `found` says of the entry itself; raises OSError for a link that cannot be followed."""
    slug = os.path.basename(path).removesuffix(_SUFFIX)
    if must_be_own:
        return NoticeFile(path, slug, path, stamp_of(found), _fault_of_own(path, found), must_be_own=True)
    if not stat.S_ISLNK(found.st_mode):
        return NoticeFile(path, slug, path, stamp_of(found), _fault(path, found))
    target = os.path.realpath(path)
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return NoticeFile(path, slug, target, None, "is a link to nothing")
    except OSError as error:
        return NoticeFile(path, slug, target, None, f"cannot be accessed: {reason_of(error)}")
    leads_away = None if _inside(target, folder) else "is a link that leads out of its folder"
    return NoticeFile(path, slug, target, stamp_of(found), leads_away or _fault(path, found))


def _fault_of_own(path: str, found: os.stat_result) -> str | None:
    try:
        check(found, path, is_folder=False, may_be_wide=True)
    except UnprovenError as error:
        return str(error).removeprefix(f"{path} ")
    return _fault(path, found)


def _fault(path: str, found: os.stat_result) -> str | None:
    if not stat.S_ISREG(found.st_mode):
        return "is not a regular file"
    name = os.path.basename(path)
    if wire(name) != name:
        return "has a name that is not UTF-8; rename it"
    return None


def _weight(file: NoticeFile) -> int:
    """The bytes that will be read of a file: none of one that is refused."""
    return file.stamp[2] if file.stamp and not file.fault and file.stamp[2] <= LIMIT else 0


def _inside(target: str, folder: str) -> bool:
    return target.startswith(os.path.realpath(folder) + os.sep)
