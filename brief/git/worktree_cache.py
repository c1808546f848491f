"""The listing of checkouts, kept for as long as the files it was made from are the same: no process is started."""

from __future__ import annotations

import os
import threading

from brief.fastpath.locate import read_small
from brief.git.worktrees import Checkout, worktrees
from brief.support.files import Stamp, any_young, stamp

State = tuple[tuple[str, ...], dict[str, Stamp | None]]
_MOST_LINKS = 5


class WorktreeCache:
    """The checkouts of one repository, by `worktrees`, asked of git anew only after something changed.

    Noticed are commits, switched branches, work trees added, moved, locked and removed, also by hand. Thread safe.
    """

    def __init__(self, common_dir: str) -> None:
        self.common_dir = common_dir
        self._lock = threading.Lock()
        self._texts: dict[str, tuple[Stamp, str]] = {}
        self._state: State = ((), {})
        self._listing: tuple[Checkout, ...] = ()
        self._present: tuple[int, ...] = ()

    def read(self, deadline_s: float = 5.0) -> tuple[Checkout, ...]:
        """The checkouts as they are now; raises GitError where git had to be asked and failed."""
        with self._lock:
            if not self._is_unchanged():
                self._listing = ()
                state = self._look()
                listing = worktrees(self.common_dir, deadline_s)
                self._present = _present(listing)
                if any_young(state[1].values()):
                    self._texts.clear()
                    return listing
                self._listing, self._state = listing, state
            return self._listing

    def _is_unchanged(self) -> bool:
        """Whether all is as it was when git was asked: as long as no HEAD changes, the same files are looked at."""
        names, stamps = self._state
        return (
            bool(self._listing)
            and self._names() == names
            and all(stamp(path) == found if found else _is_absent(path) for path, found in stamps.items())
            and self._present == _present(self._listing)
        )

    def _names(self) -> tuple[str, ...]:
        """The linked work trees by their folders' names."""
        try:
            return tuple(sorted(os.listdir(f"{self.common_dir}/worktrees")))
        except OSError:
            return ()

    def _look(self) -> State:
        """The names of the work trees, and the stamps of all files that a listing depends on, by their paths."""
        common, names = self.common_dir, self._names()
        tables = "reftable/tables.list"
        paths = [f"{common}/{name}" for name in ("config", "config.worktree", "packed-refs", tables)]
        inner = ("gitdir", "locked", tables) if stamp(paths[-1]) else ("gitdir", "locked")
        paths += (f"{common}/worktrees/{name}/{each}" for name in names for each in inner)
        stamps = {path: stamp(path) for path in paths}
        for git_dir in (common, *(f"{common}/worktrees/{name}" for name in names)):
            stamps |= self._head(git_dir)
        return names, stamps

    def _head(self, git_dir: str) -> dict[str, Stamp | None]:
        """The stamps of HEAD and of the loose refs that it leads to."""
        path = f"{git_dir}/HEAD"
        stamps: dict[str, Stamp | None] = {}
        for _ in range(_MOST_LINKS):
            seen = stamps[path] = stamp(path)
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


def _is_absent(path: str) -> bool:
    """Whether nothing can be looked at there, at half the cost of a stat that fails."""
    try:
        return not os.access(path, os.F_OK)
    except ValueError:
        return True


def _present(listing: tuple[Checkout, ...]) -> tuple[int, ...]:
    """For each checkout how much of it is there: 2 with what links it to git, 1 the bare folder, 0 nothing."""
    return tuple(
        2 if os.access(f"{checkout.root}/.git", os.F_OK) else int(os.path.isdir(checkout.root)) for checkout in listing
    )
