"""Find every file that is or may be a lock. Files are read anew, so that a lock placed a moment ago counts.

A lock holds however many other files lie beside it. So all files are searched, even those beyond the limits of a brief.
A file whose text rules out a lock is not parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from brief.core.model.errors import MajordomusError, NotFoundError
from brief.core.notices.locks import lock_slug, may_be_lock, may_be_lock_on
from brief.core.notices.notice import Notice
from brief.core.notices.unread import Unread
from brief.core.text.sanitize import to_wire
from brief.notices.finding import parse_content, raw_content
from brief.notices.folder import Folder, NoticeFile, find_named_file, list_folder

MOST_FILES = 100_000
"""How many files of one folder are searched."""


class LockFile(Struct, frozen=True):
    """A file that is or may be a lock: its notice, or the fault in it. `raw` is its text, None if it was not read."""

    folder: str
    file: NoticeFile
    notice: Notice | None
    fault: str | None = None
    raw: bytes | None = None

    def may_be_on(self, component: str) -> bool:
        """Whether this file, which could not be read as a notice, may be the lock on a component."""
        return self.notice is None and may_be_lock_on(component, self.file.slug, self.raw)


class Survey(Struct, frozen=True):
    """The files that are or may be locks. `partial` are the folders that were not searched in full, with reasons.

    `unlisted` are those among them that could not be listed at all.
    """

    files: tuple[LockFile, ...]
    partial: tuple[tuple[str, str], ...]
    unlisted: tuple[tuple[str, str], ...]

    @property
    def unread(self) -> Unread:
        """What may hold locks and could not be read."""
        return Unread(tuple((to_wire(each.file.path), each.fault) for each in self.files if each.fault), self.partial)


def survey_locks(folders: Sequence[str], component: str | None = None) -> Survey:
    """Search the folders. The lock on `component` is found by its name, even in a folder that cannot be listed."""
    looked = [list_folder(folder) for folder in folders]
    named = lock_slug(component) if component is not None else None
    return Survey(
        files=tuple(
            found for folder in looked for file in _list_files(folder, named) for found in _read(folder, file, named)
        ),
        partial=tuple((to_wire(folder.path), reason) for folder in looked if (reason := _why_partial(folder))),
        unlisted=tuple((to_wire(folder.path), folder.reason or "") for folder in looked if not _is_known(folder)),
    )


def _list_files(folder: Folder, named: str | None) -> Iterator[NoticeFile]:
    yield from folder.files
    slugs = [*folder.left_out[:MOST_FILES]]
    if named is not None and named not in {*slugs, *(file.slug for file in folder.files)}:
        slugs.append(named)
    for slug in slugs:
        if (file := find_named_file(folder.path, slug)) is not None:
            yield file


def _why_partial(folder: Folder) -> str | None:
    """Why the folder may contain locks that were not found. None if all of its files were searched."""
    if not folder.is_listed:
        return folder.reason
    left = len(folder.left_out) - MOST_FILES
    return f"{left:,} more of its files were not searched; archive what is done" if left > 0 else None


def _is_known(folder: Folder) -> bool:
    return folder.is_listed or bool(folder.files)


def _read(folder: Folder, file: NoticeFile, named: str | None) -> Iterator[LockFile]:
    """Yield the file if it may be a lock. A file that was removed meanwhile yields nothing."""
    raw = None
    try:
        raw = raw_content(file)
        if file.slug == named or may_be_lock(raw):
            yield LockFile(folder.path, file, parse_content(file, raw), raw=raw)
    except NotFoundError:
        return
    except MajordomusError as error:
        yield LockFile(folder.path, file, None, str(error), raw)
