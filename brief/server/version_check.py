"""What is installed of the program that this process runs: an upgrade replaces it under a server that lives for days.

So does the same version installed again, or a Python replaced below it: what is imported from then on is of another making.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from typing import TYPE_CHECKING

import brief
from brief.core.text.sanitize import clean
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.support.files import reason_of

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

MOST_BYTES = 65_536
_VERSION = re.compile(rb'^__version__ = "([^"]+)"', re.MULTILINE)

Identity = tuple[int, int, int]
"""Inode, time of change in nanoseconds and size. An installer that shares files by links changes none of them."""


def file_identity(path: str) -> Reading[Identity]:
    """What tells the file at `path`, links followed, from any that takes its place. Blocks for one stat."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except (OSError, ValueError) as fault:
        return Unknown(f"cannot be accessed: {reason_of(fault)}")
    return Known((found.st_ino, found.st_mtime_ns, found.st_size))


class Installation:
    """The file at `path` that names the version, and the Python that runs it, each compared to what it was at first.

    The version is read again only where the file was replaced; `running` is ours.
    """

    def __init__(
        self, path: str = brief.__file__, running: str = brief.__version__, executable: str = sys.executable
    ) -> None:
        self._path = path
        self._running = running
        self._executable = executable
        self._first = self._look()
        self._seen: object = ()
        self._outdated: str | None = None

    def recorded(self) -> list[list[str | int]]:
        """The files and what tells each from any that takes its place, for the lease; see `fastpath/lease.py`."""
        files = zip((self._path, self._executable), self._first, strict=True)
        return [[path, *found.value] for path, found in files if isinstance(found, Known)]

    def outdated(self) -> str | None:
        """How what is installed differs from what runs, None where it does not. Blocks for two stats.

        What cannot be accessed changes nothing of what was told before.
        """
        now = self._look()
        if now != self._seen:
            with contextlib.suppress(OSError):
                self._outdated, self._seen = self._judged(*now), now
        return self._outdated

    def _look(self) -> tuple[Reading[Identity], Reading[Identity]]:
        return file_identity(self._path), file_identity(self._executable)

    def _judged(self, package: Reading[Identity], python: Reading[Identity]) -> str | None:
        if isinstance(package, Unknown) or isinstance(python, Unknown):
            return self._outdated
        if package is ABSENT:
            return f"outdated: runs {self._running}, whose files are gone"
        installed = self._installed()
        if installed != self._running:
            return f"outdated: runs {self._running}, {installed} is installed"
        first_package, first_python = self._first
        if isinstance(first_package, Known) and package != first_package:
            return f"outdated: runs {self._running}, which was installed again since"
        if isinstance(first_python, Known) and python != first_python:
            change = "is gone" if python is ABSENT else "was replaced since"
            return f"outdated: its Python {clean(self._executable, 200)} {change}"
        return None

    def _installed(self) -> str:
        """The version that the file names; ours where it names none, since it is just being written. Raises OSError."""
        with open(self._path, "rb") as file:
            found = _VERSION.search(file.read(MOST_BYTES))
        return clean(found[1].decode("utf-8", "replace"), 40) if found else self._running
