"""The last line of each checkout and session, stored for a status line that finds no server."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from brief.core.model.brief import Brief
from brief.core.model.errors import SupersededError
from brief.fastpath.proof import FILE, open_folder
from brief.fastpath.statusline import is_plain, line_file
from brief.request import RequestContext
from brief.support.fence import refuse_if_superseded

RENEW_SECONDS = 5.0
KEPT_DAYS = 14
TIDY_SECONDS = 60.0

_LINE = re.compile(r"(primary|worktree-[^/~]+)(?:~([^/]+))?", re.DOTALL)
"""The name of a line's file: the checkout, and the session if the line is a session's."""

_HALF_WRITTEN = re.compile(r"\.[0-9]+-[0-9]+\.tmp")
_number = itertools.count()


class LineKeeper:
    """Stores at most one line for each checkout that git lists and for each open session (`is_open`).

    A line is written when it changes. An unchanged line is written again every few seconds, for its time.
    """

    def __init__(self, folder: Path, is_open: Callable[[str], bool]) -> None:
        self._folder = folder
        self._is_open = is_open
        self._kept: dict[str, tuple[str, float]] = {}
        self._files: dict[str, str] = {}

    def prepare(self) -> None:
        """Create the folder. Raises OSError, and UnprovenError if something in its place is not the user's own."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        os.close(open_folder(str(self._folder), tighten=True))

    def keep(self, request: RequestContext, brief: Brief) -> None:
        """Store the line of a newly composed brief. A failure is ignored, since the answer matters more.

        The line for a session that is not open here is stored as the line of its checkout.
        """
        session = request.query.session
        if session is not None and not is_plain(session):
            return
        session = session if session is not None and self._is_open(session) else None
        path = line_file(request.here, session)
        line, written = self._kept.get(path, ("", 0.0))
        now = time.monotonic()
        if line == brief.line and now - written < RENEW_SECONDS:
            return
        self._kept[path] = (brief.line, now)
        with contextlib.suppress(OSError, SupersededError), _open_folder(self._folder) as folder:
            _write_line(folder, os.path.basename(path), brief.line + "\n")
            self._leave_one(session, path, folder)

    def _leave_one(self, session: str | None, path: str, folder: int) -> None:
        """Remove the line of a session in the checkout that it left."""
        if session is None:
            return
        before = self._files.get(session)
        self._files[session] = path
        if before is not None and before != path:
            self._kept.pop(before, None)
            os.unlink(os.path.basename(before), dir_fd=folder)

    async def keep_tidy(self, common_dir: str) -> None:
        """Tidy once a minute for as long as the server runs."""
        while True:
            with contextlib.suppress(OSError, SupersededError):
                self.tidy(common_dir)
            await asyncio.sleep(TIDY_SECONDS)

    def tidy(self, common_dir: str) -> None:
        """Remove old lines, and those of sessions that are not open or of checkouts that git no longer lists.

        Only files with our names are removed. Raises OSError if the folders cannot be listed; then nothing is removed.
        """
        listed = {"primary", *(f"worktree-{name}" for name in _list_linked(common_dir))}
        with _open_folder(self._folder) as folder:
            for name in self._find_unwanted(folder, listed):
                refuse_if_superseded()
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=folder)
        self._kept = {path: kept for path, kept in self._kept.items() if os.path.lexists(path)}
        self._files = {session: path for session, path in self._files.items() if self._is_open(session)}

    def _find_unwanted(self, folder: int, listed: set[str]) -> list[str]:
        """The names of our files that are no longer needed, such as all but the newest line of a session."""
        unwanted, newest = [], dict[str, tuple[float, str]]()
        oldest = time.time() - KEPT_DAYS * 86_400
        for name in os.listdir(folder):
            found = _LINE.fullmatch(name)
            if found is None:
                unwanted += [name] if _HALF_WRITTEN.fullmatch(name) and _file_age(name, folder) > TIDY_SECONDS else []
                continue
            checkout, session = found.groups()
            written = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime
            if checkout not in listed or written < oldest or (session is not None and not self._is_open(session)):
                unwanted.append(name)
            elif session is not None:
                last = (written, name)
                unwanted += [min(last, newest[session])[1]] if session in newest else []
                newest[session] = max(last, newest.get(session, last))
        return unwanted


def _file_age(name: str, folder: int) -> float:
    return time.time() - os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime


def _list_linked(common_dir: str) -> list[str]:
    """The names of the linked work trees. Raises OSError if they cannot be listed."""
    try:
        return os.listdir(f"{common_dir}/worktrees")
    except FileNotFoundError:
        return []


@contextlib.contextmanager
def _open_folder(folder: Path) -> Iterator[int]:
    """A descriptor of the folder, proven at every use, since it may have been swapped. Raises UnprovenError, OSError."""
    descriptor = open_folder(str(folder))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write_line(folder: int, name: str, text: str) -> None:
    """Write by rename and without fsync: after a crash an older line, shown with its age, is good enough."""
    refuse_if_superseded()
    beside = f".{os.getpid()}-{next(_number)}.tmp"
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE, 0o600, dir_fd=folder)
    try:
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        refuse_if_superseded()
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(beside, dir_fd=folder)
        raise
