"""Files that this process made: removed only where they are still the ones it made."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple


class Made(NamedTuple):
    """A file known by its inode and the time it was written: a freed inode is given out again at once."""

    path: Path
    found: os.stat_result

    @classmethod
    def at(cls, path: Path) -> Made:
        """Remember what lies at `path` now as ours."""
        return cls(path, path.lstat())

    def remove(self) -> None:
        """Remove the file if it is still the one we made."""
        with contextlib.suppress(OSError):
            if self.is_there():
                self.path.unlink()

    def is_there(self) -> bool:
        """Whether what lies at `path` now is still the file we made."""
        try:
            now = self.path.lstat()
        except OSError:
            return False
        return os.path.samestat(now, self.found) and now.st_mtime_ns == self.found.st_mtime_ns
