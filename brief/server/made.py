"""Files that this process made: removed only where they are still the ones it made."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Made:
    """A file known by its inode: a later one of the same name is somebody else's."""

    path: Path
    found: os.stat_result

    @classmethod
    def at(cls, path: Path) -> Made:
        """Remember what lies at `path` now as ours."""
        return cls(path, path.lstat())

    def remove(self) -> None:
        """Remove the file if it is still the one we made."""
        with contextlib.suppress(OSError):
            if os.path.samestat(self.path.lstat(), self.found):
                self.path.unlink()
