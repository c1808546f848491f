"""Move notices from `active/` to `archive/`: never over another file, and not in folders that git tracks."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

from msgspec import Struct

from brief.core.model.errors import MajordomusError
from brief.core.notices.notice import Notice
from brief.core.text.sanitize import to_wire
from brief.git.tracked import is_tracked
from brief.notices.finding import read_content
from brief.notices.folder import NoticeFile, find_named_file, is_linked
from brief.notices.folder_lock import as_notice_error, lock_folder
from brief.notices.writing import number_name
from brief.support.fence import refuse_if_superseded


class Archived(Struct, frozen=True):
    """The slugs that this call moved. `reason` says why others stayed, unless another process was faster."""

    slugs: tuple[str, ...]
    reason: str | None = None


def archive(
    folder: str,
    slugs: Collection[str],
    is_over: Callable[[Notice], bool] | None = None,
    *,
    even_tracked: bool = False,
) -> Archived:
    """Move the notices with these slugs that are readable and still over. Never raises.

    `is_over` is asked under the lock of the folder, since a newer notice may have the slug by then. Without it every file
    with such a name is moved, whether it is a notice or not.
    """
    wanted = [file for slug in sorted(slugs) if (file := find_named_file(folder, slug)) is not None]
    if not wanted:
        return Archived(())
    moved: list[str] = []
    try:
        if reason := why_not_archivable(folder, even_tracked=even_tracked):
            return Archived((), reason)
        with lock_folder(folder):
            moved.extend(file.slug for file in wanted if _is_over(file, is_over) and move(folder, file.path))
    except MajordomusError as error:
        return Archived(tuple(moved), str(error))
    return Archived(tuple(moved))


def why_not_archivable(folder: str, *, even_tracked: bool = False) -> str | None:
    """Why no notice of the folder may be archived, None if it may. Raises GitError."""
    if not even_tracked and is_tracked(folder):
        return f"{to_wire(folder)} is tracked by git, and alerts.archive_tracked is off"
    reason = is_linked(folder, "archive") or is_linked(folder, "active")
    return f"{to_wire(folder)}: {reason}" if reason else None


def move(folder: str, path: str) -> str | None:
    """Move a file into `archive/`, and return its new path. None if it was gone. The caller holds the folder's lock.

    A number is added to a name that is taken there. Raises NoticeError and SupersededError.
    """
    if not os.path.lexists(path):
        return None
    refuse_if_superseded()
    with as_notice_error(path):
        os.makedirs(f"{folder}/archive", mode=0o700, exist_ok=True)
        names = number_name(os.path.basename(path).removesuffix(".md"))
        target = next(target for name in names if _reserve(target := f"{folder}/archive/{name}.md"))
        try:
            refuse_if_superseded()
            os.rename(path, target)
        except FileNotFoundError:
            os.unlink(target)
            return None
        except (OSError, MajordomusError):
            os.unlink(target)
            raise
    return target


def _reserve(target: str) -> bool:
    """Reserve a free name with an empty file, so that a rename to it replaces nothing else. False if it is taken."""
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True


def _is_over(file: NoticeFile, is_over: Callable[[Notice], bool] | None) -> bool:
    if is_over is None:
        return True
    try:
        return is_over(read_content(file)[1])
    except MajordomusError:
        return False
