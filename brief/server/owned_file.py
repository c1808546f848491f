"""Files that this process created, which it removes only if they are still its own."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple


class OwnedFile(NamedTuple):
    """A file identified by inode and modification time, since a freed inode is soon reused."""

    path: Path
    found: os.stat_result

    @classmethod
    def at(cls, path: Path) -> OwnedFile:
        """Remember the file at `path` as ours."""
        return cls(path, path.lstat())

    def remove(self) -> None:
        """Remove the file if it is still ours."""
        with contextlib.suppress(OSError):
            if self.is_there():
                self.path.unlink()

    def is_there(self) -> bool:
        """Whether the file at `path` is still ours."""
        try:
            now = self.path.lstat()
        except OSError:
            return False
        return os.path.samestat(now, self.found) and now.st_mtime_ns == self.found.st_mtime_ns
