"""What is installed of the program that this process runs: an upgrade replaces it under a server that lives for days."""

from __future__ import annotations

import contextlib
import re

import brief
from brief.core.text.sanitize import clean
from brief.support.files import stamp

MOST_BYTES = 65_536
_VERSION = re.compile(rb'^__version__ = "([^"]+)"', re.MULTILINE)


class Installation:
    """The file at `path` that names the version, read again only where its stamp has changed; `running` is ours."""

    def __init__(self, path: str = brief.__file__, running: str = brief.__version__) -> None:
        self._path = path
        self._running = running
        self._seen: object = ()
        self._outdated: str | None = None

    def outdated(self) -> str | None:
        """How what is installed differs from what runs, None where it does not. Blocks for one stat."""
        now = stamp(self._path)
        if now != self._seen:
            with contextlib.suppress(OSError):
                self._outdated, self._seen = self._judged(), now
        return self._outdated

    def _judged(self) -> str | None:
        try:
            with open(self._path, "rb") as file:
                found = _VERSION.search(file.read(MOST_BYTES))
        except (FileNotFoundError, NotADirectoryError):
            return f"outdated: runs {self._running}, whose files are gone"
        # A file that names no version is just being written, and will have another stamp.
        installed = clean(found[1].decode("utf-8", "replace"), 40) if found else self._running
        return None if installed == self._running else f"outdated: runs {self._running}, {installed} is installed"
