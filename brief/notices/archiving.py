"""Notices moved from `active/` to `archive/`: by whoever comes first, over no other file, and not in tracked folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass

from brief.core.model.errors import MajordomusError
from brief.core.notices.notice import Notice
from brief.core.text.sanitize import wire
from brief.git.tracked import is_tracked
from brief.notices.finding import content
from brief.notices.folder import NoticeFile, is_linked, named_file
from brief.notices.folder_lock import told, turn
from brief.notices.writing import numbered
from brief.support.fence import refuse_if_superseded


@dataclass(frozen=True, slots=True)
class Archived:
    """The slugs that this call moved; `reason` is why others were left, where that was not a race that it lost."""

    slugs: tuple[str, ...]
    reason: str | None = None


def archive(
    folder: str,
    slugs: Collection[str],
    is_over: Callable[[Notice], bool] | None = None,
    *,
    even_tracked: bool = False,
) -> Archived:
    """Move the notices with these slugs, of those that can be read only the ones that are still over; never raises.

    `is_over` is asked once nobody else can write, since the slug may be that of a newer notice by then; without it
    every file of such a name goes, notice or not.
    """
    wanted = [file for slug in sorted(slugs) if (file := named_file(folder, slug)) is not None]
    if not wanted:
        return Archived(())
    moved: list[str] = []
    try:
        if reason := why_not(folder, even_tracked=even_tracked):
            return Archived((), reason)
        with turn(folder):
            moved.extend(file.slug for file in wanted if _is_over(file, is_over) and move(folder, file.path))
    except MajordomusError as error:
        return Archived(tuple(moved), str(error))
    return Archived(tuple(moved))


def why_not(folder: str, *, even_tracked: bool = False) -> str | None:
    """Why nothing of the folder may be archived; None where it may. Raises GitError."""
    if not even_tracked and is_tracked(folder):
        return f"{wire(folder)} is tracked by git, and alerts.archive_tracked is off"
    reason = is_linked(folder, "archive") or is_linked(folder, "active")
    return f"{wire(folder)}: {reason}" if reason else None


def move(folder: str, path: str) -> str | None:
    """Move a file into `archive/`, in the folder's turn, and tell where it is; None where it was gone.

    A name that is taken there gets a number. Raises NoticeError, SupersededError.
    """
    if not os.path.lexists(path):
        return None
    refuse_if_superseded()
    with told(path):
        os.makedirs(f"{folder}/archive", mode=0o700, exist_ok=True)
        names = numbered(os.path.basename(path).removesuffix(".md"))
        target = next(target for name in names if _claim(target := f"{folder}/archive/{name}.md"))
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


def _claim(target: str) -> bool:
    """Hold a name that is free by an empty file, so that what is renamed to it replaces nothing else."""
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True


def _is_over(file: NoticeFile, is_over: Callable[[Notice], bool] | None) -> bool:
    if is_over is None:
        return True
    try:
        return is_over(content(file)[1])
    except MajordomusError:
        return False
