"""Remove the temporary files that killed processes left, which are known by name, age and owner."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from datetime import datetime, timedelta

from brief.support.fence import refuse_if_superseded

KEPT = timedelta(minutes=10)
"""The age up to which a temporary file may still be in use. Writing one takes far less than a second."""

_NAME = re.compile(r"\.[a-z0-9_]{8}\.tmp")


def remove_leftovers(folder: str, now: datetime) -> int:
    """Remove the temporary files of `support/files.py` that are older than ten minutes. Returns their number.

    Does nothing unless the folder belongs to the user and nobody else can write to it. Raises SupersededError.
    """
    oldest = (now - KEPT).timestamp()
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        return sum(_remove_if_old(descriptor, name, oldest) for name in _temporary_names(descriptor))
    finally:
        os.close(descriptor)


def _temporary_names(descriptor: int) -> list[str]:
    found = os.fstat(descriptor)
    if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return []
    with contextlib.suppress(OSError), os.scandir(descriptor) as entries:
        return [entry.name for entry in entries if _NAME.fullmatch(entry.name)]
    return []


def _remove_if_old(descriptor: int, name: str, oldest: float) -> bool:
    with contextlib.suppress(OSError):
        found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_mtime < oldest:
            refuse_if_superseded()
            os.unlink(name, dir_fd=descriptor)
            return True
    return False
