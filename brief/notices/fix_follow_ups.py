"""The bug-deps that a server has already followed up, in memory only."""

from __future__ import annotations

import asyncio
import threading

from brief.core.notices.notice import Notice

Folders = tuple[str, ...]
Bugs = tuple[Notice, ...]


class FixFollowUps:
    """For each set of folders, the bug-deps that were last checked, and the keys of those that were done.

    `turn` is held while they are checked. `task` keeps a reference to the check that runs beside a brief.
    """

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.task: asyncio.Future[None] | None = None
        self._checked: dict[Folders, tuple[Bugs, frozenset[str]]] = {}

    def is_settled(self, folders: Folders, bugs: Bugs) -> bool:
        """Whether these same bug-deps were already checked, and nothing was left to queue."""
        checked = self._checked.get(folders)
        return checked is not None and checked[0] == bugs

    def done_before(self, folders: Folders) -> frozenset[str]:
        """The keys of the bug-deps that were done at the last check of the folders."""
        checked = self._checked.get(folders)
        return frozenset() if checked is None else checked[1]

    def note_settled(self, folders: Folders, bugs: Bugs, done: frozenset[str]) -> None:
        """Note that the bug-deps of the folders were checked."""
        self._checked[folders] = (bugs, done)
