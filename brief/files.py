"""Files of the tool's own: written whole or not at all, and removed only where they are still the ones it made."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path


def replace(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Put `content` at `path` in one step: temporary file beside it, fsync, rename. A reader sees old or new."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


@dataclass(frozen=True, slots=True)
class Made:
    """A file this process made, known by its inode: a later one of the same name is somebody else's."""

    path: Path
    device: int
    inode: int

    @classmethod
    def at(cls, path: Path) -> Made:
        """Remember what lies at `path` now as ours."""
        found = path.lstat()
        return cls(path, found.st_dev, found.st_ino)

    def is_there(self) -> bool:
        """Whether the file at the path is still the one we made."""
        try:
            found = self.path.lstat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (self.device, self.inode)

    def remove(self) -> None:
        """Remove the file if it is still the one we made."""
        if self.is_there():
            with contextlib.suppress(OSError):
                self.path.unlink()
