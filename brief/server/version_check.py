"""Notices that the files of this program were replaced while it runs.

A server runs for days. An upgrade, a reinstallation of the same version or a replaced Python changes the files under it, and what
it imports later would not fit what it has loaded.
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
    """The identity of the file at `path`, following links, which changes if it is replaced. Blocks for one stat."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except (OSError, ValueError) as fault:
        return Unknown(f"cannot be accessed: {reason_of(fault)}")
    return Known((found.st_ino, found.st_mtime_ns, found.st_size))


class Installation:
    """Compares the file at `path`, which names the version, and the Python executable with what they were at the start.

    The version is read again only if the file was replaced. `running` is the version of this process.
    """

    def __init__(
        self, path: str = brief.__file__, running: str = brief.__version__, executable: str = sys.executable
    ) -> None:
        self._path = path
        self._running = running
        self._executable = executable
        self._first = self._identify_files()
        self._seen: object = ()
        self._outdated: str | None = None

    def file_identities(self) -> list[list[str | int]]:
        """The paths and identities of both files, for the lease; see `fastpath/lease.py`."""
        files = zip((self._path, self._executable), self._first, strict=True)
        return [[path, *found.value] for path, found in files if isinstance(found, Known)]

    def outdated(self) -> str | None:
        """How the installed files differ from the running ones, or None. Blocks for two stats.

        If a file cannot be accessed, the previous answer stays.
        """
        now = self._identify_files()
        if now != self._seen:
            with contextlib.suppress(OSError):
                self._outdated, self._seen = self._compare(*now), now
        return self._outdated

    def _identify_files(self) -> tuple[Reading[Identity], Reading[Identity]]:
        return file_identity(self._path), file_identity(self._executable)

    def _compare(self, package: Reading[Identity], python: Reading[Identity]) -> str | None:
        if isinstance(package, Unknown) or isinstance(python, Unknown):
            return self._outdated
        if package is ABSENT:
            return f"outdated: runs {self._running}, whose files are gone"
        installed = self._read_version()
        if installed != self._running:
            return f"outdated: runs {self._running}, {installed} is installed"
        first_package, first_python = self._first
        if isinstance(first_package, Known) and package != first_package:
            return f"outdated: runs {self._running}, which has been reinstalled since"
        if isinstance(first_python, Known) and python != first_python:
            change = "is gone" if python is ABSENT else "has been replaced since"
            return f"outdated: its Python {clean(self._executable, 200)} {change}"
        return None

    def _read_version(self) -> str:
        """The version in the file, or ours if there is none because the file is just being written. Raises OSError."""
        with open(self._path, "rb") as file:
            found = _VERSION.search(file.read(MOST_BYTES))
        return clean(found[1].decode("utf-8", "replace"), 40) if found else self._running
