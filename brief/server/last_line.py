"""The last line of each checkout, kept where a status line finds it when no server answers."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from brief.core.model.brief import Brief
from brief.core.model.errors import SupersededError
from brief.fastpath.statusline import is_plain, line_file
from brief.service import RequestContext
from brief.support.fence import refuse_if_superseded

RENEW_SECONDS = 5.0
KEPT_DAYS = 14


class LineKeeper:
    """Writes a line when it has changed, and otherwise only its time, not more often than every few seconds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[str, tuple[str, float]] = {}

    def prepare(self) -> None:
        """Make the folder, and forget lines that nobody renewed for two weeks."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        oldest = time.time() - KEPT_DAYS * 86_400
        for entry in os.scandir(self._folder):
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry)

    def keep(self, request: RequestContext, brief: Brief) -> None:
        """Keep the line of a brief just composed; a line that cannot be kept costs nobody an answer."""
        session = request.query.session
        if session is not None and not is_plain(session):
            return
        path = line_file(request.here, session)
        line, written = self._kept.get(path, ("", 0.0))
        now = time.monotonic()
        if line == brief.line and now - written < RENEW_SECONDS:
            return
        self._kept[path] = (brief.line, now)
        with contextlib.suppress(OSError, SupersededError):
            _put(path, brief.line + "\n")


def _put(path: str, text: str) -> None:
    """By rename and with no fsync: after a crash an older line is as good, with its own age."""
    refuse_if_superseded()
    beside = f"{path}.{os.getpid()}"
    with open(beside, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    refuse_if_superseded()
    os.replace(beside, path)
