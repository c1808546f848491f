"""What a server knows of the bug-deps in its folders since it last told who waits for them, in memory."""

from __future__ import annotations

import asyncio
import threading

from brief.core.notices.notice import Notice

Folders = tuple[str, ...]
Bugs = tuple[Notice, ...]


class ToldFixes:
    """By folders, the bug-deps that were last looked through and the keys of those that were done.

    `turn` is held by who looks through them; `task` keeps the work that was begun beside a brief alive.
    """

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.task: asyncio.Future[None] | None = None
        self._looked: dict[Folders, tuple[Bugs, frozenset[str]]] = {}

    def is_told(self, folders: Folders, bugs: Bugs) -> bool:
        """Whether these very bug-deps were looked through."""
        looked = self._looked.get(folders)
        return looked is not None and looked[0] == bugs

    def done_before(self, folders: Folders) -> frozenset[str]:
        """The keys of those that were done when the folders were last looked through."""
        looked = self._looked.get(folders)
        return frozenset() if looked is None else looked[1]

    def note(self, folders: Folders, bugs: Bugs, done: frozenset[str]) -> None:
        """Note that the bug-deps of the folders were looked through."""
        self._looked[folders] = (bugs, done)
