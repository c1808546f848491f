"""What a server knows of the bug-deps in its folders since it last told who waits for them, in memory."""

from __future__ import annotations

import asyncio
import threading

from brief.notices.store import NoticeSnapshot

Folders = tuple[str, ...]


class ToldFixes:
    """By folders, the snapshot that was last looked through and the keys of the bug-deps that were done in it.

    `turn` is held by who looks through one; `task` keeps the work that was begun beside a brief alive.
    """

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.task: asyncio.Future[None] | None = None
        self._looked: dict[Folders, tuple[NoticeSnapshot, frozenset[str]]] = {}

    def is_told(self, folders: Folders, snapshot: NoticeSnapshot | None) -> bool:
        """Whether this very snapshot was looked through, or there is none."""
        looked = self._looked.get(folders)
        return snapshot is None or (looked is not None and looked[0] is snapshot)

    def done_before(self, folders: Folders) -> frozenset[str]:
        """The keys of those that were done when the folders were last looked through."""
        looked = self._looked.get(folders)
        return frozenset() if looked is None else looked[1]

    def note(self, folders: Folders, snapshot: NoticeSnapshot, done: frozenset[str]) -> None:
        """Note that a snapshot was looked through."""
        self._looked[folders] = (snapshot, done)
