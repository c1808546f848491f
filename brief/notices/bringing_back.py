"""Restore notices that were archived too early by a wrong clock, once the clock is right again."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from brief.core.model.errors import MajordomusError
from brief.core.notices.component import component_key
from brief.core.notices.notice import LIMIT, Kind, Notice, parse
from brief.notices.archiving import why_not_archivable
from brief.notices.folder import leads_out
from brief.notices.folder_lock import lock_folder
from brief.notices.lock_survey import survey_locks
from brief.support.fence import refuse_if_superseded
from brief.support.files import read_bounded

AHEAD = timedelta(minutes=1)
"""How far in the future a file must have been archived to prove that the clock was ahead."""


def bring_back(
    folder: str,
    now: datetime,
    is_shown: Callable[[Notice], bool],
    folders: Sequence[str],
    *,
    even_tracked: bool = False,
) -> tuple[str, ...]:
    """Move notices that were archived at a time still to come back into `active/`, and return their slugs.

    Only a notice that `is_shown` at the present time is moved, and only to a free name. A lock is not moved if another
    one on its component is held in one of the `folders`. Raises GitError, NoticeError, GaveUpError and SupersededError.
    """
    early = [name for name, changed in _list_archived(folder) if changed > (now + AHEAD).timestamp()]
    if not early or why_not_archivable(folder, even_tracked=even_tracked) or leads_out(folder, "active"):
        return ()
    with lock_folder(folder):
        return tuple(slug for name in early if (slug := _brought_back(folder, name, is_shown, folders)))


def _list_archived(folder: str) -> Iterator[tuple[str, float]]:
    """The files in the archive with their ctime: the kernel sets it when a file is moved, by the clock of that time."""
    if leads_out(folder, "archive"):
        return
    with contextlib.suppress(OSError), os.scandir(f"{folder}/archive") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                if entry.name.endswith(".md") and stat.S_ISREG(found.st_mode) and found.st_size:
                    yield entry.name, found.st_ctime


def _brought_back(folder: str, name: str, is_shown: Callable[[Notice], bool], folders: Sequence[str]) -> str | None:
    slug, source = name.removesuffix(".md"), f"{folder}/archive/{name}"
    try:
        notice = parse(read_bounded(source, LIMIT), slug)
        if not is_shown(notice) or (notice.kind is Kind.LOCK and _is_taken(notice, is_shown, folders)):
            return None
    except (MajordomusError, OSError):
        return None
    refuse_if_superseded()
    try:
        os.link(source, f"{folder}/active/{name}", follow_symlinks=False)  # unlike a rename, this replaces nothing
        os.unlink(source)
    except OSError:
        return None
    return slug


def _is_taken(lock: Notice, is_shown: Callable[[Notice], bool], folders: Sequence[str]) -> bool:
    """Whether the component may be locked by now. True if that is unknown."""
    found = survey_locks(folders, lock.component)
    key = component_key(lock.component)
    others = (each for each in found.files if each.notice is not None)
    return bool(found.unlisted) or any(
        component_key(each.notice.component) == key and is_shown(each.notice)
        for each in others
        if each.notice is not None and each.notice.kind is Kind.LOCK
    )
