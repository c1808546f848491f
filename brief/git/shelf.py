"""The listing of checkouts, kept for as long as the files it was made from are the same: no process is started."""

from __future__ import annotations

import contextlib
import os
import threading

from brief.fast.locate import read_small
from brief.files import Stamp, any_young, stamp
from brief.git.worktrees import Checkout, worktrees

State = tuple[tuple[str, ...], tuple[Stamp | None, ...]]
_MOST_LINKS = 5


class WorktreeShelf:
    """The checkouts of one repository, by `worktrees`, asked of git anew only after something changed.

    Noticed are commits, switched branches, work trees added, moved, locked and removed, also by hand. Thread safe.
    """

    def __init__(self, common_dir: str) -> None:
        self.common_dir = common_dir
        self._lock = threading.Lock()
        self._texts: dict[str, tuple[Stamp, str]] = {}
        self._state: State = ((), ())
        self._listing: tuple[Checkout, ...] = ()
        self._present: tuple[int, ...] = ()

    def read(self, deadline_s: float = 5.0) -> tuple[Checkout, ...]:
        """The checkouts as they are now; raises GitError where git had to be asked and failed."""
        with self._lock:
            state = self._look()
            lasting = not any_young(state[1])
            if not (self._listing and state == self._state and self._present == _present(self._listing)):
                self._listing = ()
                self._listing = worktrees(self.common_dir, deadline_s)
                self._present = _present(self._listing)
                self._state = state
            listing = self._listing
            if not lasting:
                self._forget()
            return listing

    def _forget(self) -> None:
        self._listing = ()
        self._texts.clear()

    def _look(self) -> State:
        """The linked work trees by their folders' names, and the stamps of all files that a listing depends on."""
        common = self.common_dir
        names: list[str] = []
        with contextlib.suppress(OSError):
            names = sorted(os.listdir(f"{common}/worktrees"))
        stamps = [stamp(f"{common}/{name}") for name in ("config", "config.worktree", "packed-refs")]
        tables = stamp(f"{common}/reftable/tables.list")
        stamps += [tables, *self._head(common)]
        for name in names:
            git_dir = f"{common}/worktrees/{name}"
            stamps += [stamp(f"{git_dir}/gitdir"), stamp(f"{git_dir}/locked"), *self._head(git_dir)]
            if tables:
                stamps.append(stamp(f"{git_dir}/reftable/tables.list"))
        return tuple(names), tuple(stamps)

    def _head(self, git_dir: str) -> list[Stamp | None]:
        """The stamps of HEAD and of the loose refs that it leads to."""
        path, stamps = f"{git_dir}/HEAD", []
        for _ in range(_MOST_LINKS):
            seen = stamp(path)
            stamps.append(seen)
            text = self._text(path, seen)
            if not text.startswith("ref:"):
                break
            path = f"{self.common_dir}/{text[4:].strip()}"
        return stamps

    def _text(self, path: str, seen: Stamp | None) -> str:
        if seen is None:
            return ""
        kept = self._texts.get(path)
        if kept is None or kept[0] != seen:
            kept = self._texts[path] = (seen, read_small(path) or "")
        return kept[1]


def _present(listing: tuple[Checkout, ...]) -> tuple[int, ...]:
    """For each checkout how much of it is there: 2 with what links it to git, 1 the bare folder, 0 nothing."""
    return tuple(
        2 if os.path.exists(f"{checkout.root}/.git") else int(os.path.isdir(checkout.root)) for checkout in listing
    )
