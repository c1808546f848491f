"""A cache of git's listing of checkouts, valid while the files that it was made from are unchanged."""

from __future__ import annotations

import os
import threading
import time
from functools import partial

from brief.core.model.errors import GitError
from brief.fastpath.known import Known, Unknown
from brief.git.command import GitTimeoutError
from brief.git.worktrees import Checkout, entry_names, list_worktrees, read_text
from brief.support.files import Stamp, any_young, stamp_file
from brief.support.stat_cache import StatCache

State = tuple[tuple[str, ...], dict[str, Stamp | None]]
_MOST_LINKS = 5
_MOST_TEXTS = 2_000
"""The most HEADs and refs whose text is cached."""


class _Flight:
    """One call of git, shared by all who wait for it: when it began, when git is ended, and the outcome."""

    def __init__(self, lasts_s: float) -> None:
        self.begun = time.monotonic()
        self.until = self.begun + lasts_s
        self.done = threading.Event()
        self.listing: tuple[Checkout, ...] = ()
        self.fault: Exception | None = None


class WorktreeCache:
    """The checkouts of one repository, as `list_worktrees` lists them. Git is called again only after something changed.

    It notices commits, switched branches, and work trees that were added, moved, locked or removed, also by hand. One
    thread calls git for all who wait (single-flight). A slow git may continue for `linger_s` in all after they gave up,
    so that the next caller gets its answer. Thread-safe.
    """

    def __init__(self, common_dir: str, linger_s: float = 0.0) -> None:
        self.common_dir = common_dir
        self._linger = linger_s
        self._lock = threading.Lock()
        self._flight: _Flight | None = None
        self._texts: StatCache[str, str] = StatCache(_MOST_TEXTS)
        self._state: State = ((), {})
        self._listing: tuple[Checkout, ...] = ()
        self._present: tuple[int, ...] = ()

    def read(self, patience_s: float = 5.0) -> tuple[Checkout, ...]:
        """The checkouts as they are now. Raises GitError if git had to be called and failed.

        Raises GitTimeoutError after `patience_s`, or at once if git has already been silent for that long.
        """
        asked_at = time.monotonic()
        while True:
            with self._lock:
                if self._is_unchanged():
                    return self._listing
                flight = self._flight or self._begin(max(patience_s, self._linger))
            self._await(flight, patience_s, asked_at)
            # A call that began before this request may have missed the latest change.
            if flight.begun >= asked_at or flight.fault is not None:
                return self._read_outcome(flight)

    def _begin(self, lasts_s: float) -> _Flight:
        """Start calling git in a new thread. The lock is held."""
        flight = self._flight = _Flight(lasts_s)
        try:
            threading.Thread(target=self._ask, args=(flight,), daemon=True).start()
        except RuntimeError as fault:
            self._end_flight(flight, GitError(f"git cannot be called: the system has no thread left ({fault})"))
        return flight

    def _ask(self, flight: _Flight) -> None:
        """Call git. Its listing is cached with the state of the files before the call, unless one of them is young."""
        try:
            with self._lock:
                state = self._read_state()
            flight.listing = list_worktrees(self.common_dir, max(0.0, flight.until - time.monotonic()))
            present = _stamp_checkouts(flight.listing)
        except Exception as fault:  # noqa: BLE001 - every exception goes to those who wait
            with self._lock:
                self._end_flight(flight, fault)
            return
        with self._lock:
            if not any_young(state[1].values()):
                self._listing, self._state, self._present = flight.listing, state, present
            self._end_flight(flight, None)

    def _end_flight(self, flight: _Flight, fault: Exception | None) -> None:
        flight.fault = fault
        self._flight = None
        flight.done.set()

    def _await(self, flight: _Flight, patience_s: float, asked: float) -> None:
        """Wait for git's answer. Raises GitTimeoutError at the end of the caller's patience."""
        end = min(asked, flight.begun) + patience_s
        # If git will be ended by then, wait for that: its process must not outlive a command that asks once.
        if not flight.done.wait(None if flight.until <= end + 0.001 else max(0.0, end - time.monotonic())):
            silent = time.monotonic() - flight.begun
            raise GitTimeoutError(f"git worktree list has given no answer for {silent:.1f} s")

    def _read_outcome(self, flight: _Flight) -> tuple[Checkout, ...]:
        if isinstance(flight.fault, GitError):
            raise type(flight.fault)(str(flight.fault)) from flight.fault
        if flight.fault is not None:
            raise flight.fault
        return flight.listing

    def _is_unchanged(self) -> bool:
        """Whether everything is as it was when git was called. While no HEAD changes, the same files matter."""
        names, stamps = self._state
        return (
            bool(self._listing)
            and self._are_named(names)
            and all(stamp_file(path) == found if found else _is_absent(path) for path, found in stamps.items())
            and self._present == _stamp_checkouts(self._listing)
        )

    def _are_named(self, names: tuple[str, ...]) -> bool:
        """Whether the worktree entries have these names. False if they cannot be listed: calling git will say why."""
        try:
            return entry_names(self.common_dir) == names
        except GitError:
            return False

    def _read_state(self) -> State:
        """The worktree entries, and the stamps of all files that a listing depends on, by path.

        Raises GitError if one of the files cannot be read, since the files that it leads to would be missed.
        """
        common, names = self.common_dir, entry_names(self.common_dir)
        tables = "reftable/tables.list"
        paths = [f"{common}/{name}" for name in ("config", "config.worktree", "packed-refs", tables)]
        inner = ("gitdir", "locked", tables) if stamp_file(paths[-1]) else ("gitdir", "locked")
        paths += (f"{common}/worktrees/{name}/{each}" for name in names for each in inner)
        stamps = {path: stamp_file(path) for path in paths}
        for git_dir in (common, *(f"{common}/worktrees/{name}" for name in names)):
            stamps |= self._head_stamps(git_dir)
        return names, stamps

    def _head_stamps(self, git_dir: str) -> dict[str, Stamp | None]:
        """The stamps of HEAD and of the loose refs that it leads to."""
        path = f"{git_dir}/HEAD"
        stamps: dict[str, Stamp | None] = {}
        for _ in range(_MOST_LINKS):
            seen = stamps[path] = stamp_file(path)
            text = self._texts.get(path, seen, partial(_ref_text, path)) if seen else ""
            if not text.startswith("ref:"):
                break
            path = f"{self.common_dir}/{text[4:].strip()}"
        return stamps


def _ref_text(path: str) -> str:
    """The text of a HEAD or a ref, "" if it does not exist. Raises GitError if it cannot be read."""
    text = read_text(path)
    if isinstance(text, Unknown):
        raise GitError(text.reason)
    return text.value if isinstance(text, Known) else ""


def _is_absent(path: str) -> bool:
    """Whether nothing is accessible at the path, at half the cost of a failing stat."""
    try:
        return not os.access(path, os.F_OK)
    except ValueError:
        return True


def _stamp_checkouts(listing: tuple[Checkout, ...]) -> tuple[int, ...]:
    """How much of each checkout exists: 2 with its `.git`, 1 only the folder, 0 nothing."""
    return tuple(
        2 if os.access(f"{checkout.root}/.git", os.F_OK) else int(os.path.isdir(checkout.root)) for checkout in listing
    )
