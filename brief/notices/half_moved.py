"""Repair what is left if a process is killed while it moves a notice between `active/` and `archive/`."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

from brief.notices.archiving import why_not_archivable
from brief.notices.folder_lock import lock_folder
from brief.support.fence import refuse_if_superseded


def make_whole(folder: str) -> int:
    """Remove the remains of unfinished moves from the archive, and return how many files they were.

    An empty file reserved a name for a notice that is still in `active/`. A file that is also linked in `active/` was not
    removed from the archive yet. Raises NoticeError, GaveUpError and SupersededError.
    """
    if not any(_half_moved(folder)) or why_not_archivable(folder, even_tracked=True):
        return 0
    with lock_folder(folder):  # no process of ours moves a notice now
        return sum(_remove(path) for path in _half_moved(folder))


def _half_moved(folder: str) -> Iterator[str]:
    active = {(found.st_dev, found.st_ino) for _, found in _list_files(f"{folder}/active") if found.st_nlink > 1}
    for path, found in _list_files(f"{folder}/archive"):
        if not found.st_size or (found.st_dev, found.st_ino) in active:
            yield path


def _list_files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The user's own regular files that are named like notices. None if the folder cannot be listed."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".md"):
                found = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                    yield entry.path, found


def _remove(path: str) -> bool:
    refuse_if_superseded()
    with contextlib.suppress(OSError):
        os.unlink(path)
        return True
    return False
