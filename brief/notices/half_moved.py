"""What a kill leaves of a notice that was being moved between `active/` and `archive/`: made whole again."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

from brief.notices.archiving import why_not
from brief.notices.folder_lock import turn
from brief.support.fence import refuse_if_superseded


def make_whole(folder: str) -> int:
    """Remove from the archive what half a move left there; how many files they were.

    That is an empty file, which held a name free for a notice that still lies in `active/`, and a file that lies in
    `active/` too, under another name for the same content. Raises NoticeError, GaveUpError, SupersededError.
    """
    if not any(_half_moved(folder)) or why_not(folder, even_tracked=True):
        return 0
    with turn(folder):  # nobody of ours moves anything now
        return sum(_remove(path) for path in _half_moved(folder))


def _half_moved(folder: str) -> Iterator[str]:
    active = {(found.st_dev, found.st_ino) for _, found in _files(f"{folder}/active") if found.st_nlink > 1}
    for path, found in _files(f"{folder}/archive"):
        if not found.st_size or (found.st_dev, found.st_ino) in active:
            yield path


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The regular files of this user that are named as notices; none where the folder cannot be listed."""
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
