"""What a kill leaves of a file that was being written: temporary files beside it, removed by name, age and owner."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from datetime import datetime, timedelta

from brief.support.fence import refuse_if_superseded

KEPT = timedelta(minutes=10)
"""How long a file may be under way; each takes far less than a second."""

_NAME = re.compile(r"\.[a-z0-9_]{8}\.tmp")


def remove_leftovers(folder: str, now: datetime) -> int:
    """Remove temporary files of `support/files.py` that are older than ten minutes; how many they were.

    Only in a folder that is the user's own and that nobody else can write. Raises SupersededError.
    """
    oldest = (now - KEPT).timestamp()
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        return sum(_removed(descriptor, name, oldest) for name in _names(descriptor))
    finally:
        os.close(descriptor)


def _names(descriptor: int) -> list[str]:
    found = os.fstat(descriptor)
    if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return []
    with contextlib.suppress(OSError), os.scandir(descriptor) as entries:
        return [entry.name for entry in entries if _NAME.fullmatch(entry.name)]
    return []


def _removed(descriptor: int, name: str, oldest: float) -> bool:
    with contextlib.suppress(OSError):
        found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_mtime < oldest:
            refuse_if_superseded()
            os.unlink(name, dir_fd=descriptor)
            return True
    return False
