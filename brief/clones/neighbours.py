"""All other servers of one history, asked at the same time and at most once a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from brief.clones.asking import ASK_SECONDS, Kind, Neighbour, ask_server, make_unread, mark_superseded
from brief.clones.entries import Entry, folder_id, read_entries
from brief.clones.kinship import RootCommits, are_clones
from brief.core.text.sanitize import clean

FRESH_SECONDS = 1.0
SILENT_SECONDS = 30.0
MOST_ASKED = 64
_GRACE_SECONDS = 0.05


class Neighbourhood(Struct, frozen=True):
    """The answers of the other servers, `age_s` seconds old. `gaps` are sentences about what may be missing."""

    neighbours: tuple[Neighbour, ...]
    gaps: tuple[str, ...]
    age_s: float = 0.0


class Neighbours:
    """The other servers of the history of `common_dir`, and of that folder itself, as seen by the server of `epoch`.

    Their entries are in `folder`. Thread-safe: a caller waits for a round under way. `monotonic` returns seconds.
    """

    def __init__(
        self,
        folder: str,
        common_dir: str,
        epoch: int,
        roots: RootCommits,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._own = (common_dir, epoch)
        self._folder_id = folder_id(common_dir)
        self._roots = roots
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._last: Neighbourhood | None = None
        self._asked = 0.0
        self._silent: dict[str, float] = {}

    def read(self) -> Neighbourhood:
        """The boards of all neighbours, at most a second old. Blocks for at most a little more than 250 ms."""
        with self._lock:
            now = self._monotonic()
            if self._last is None or not 0 <= now - self._asked < FRESH_SECONDS:
                self._last, self._asked = self._read(now), now
            return replace(self._last, age_s=now - self._asked)

    def _read(self, now: float) -> Neighbourhood:
        listed = read_entries(self._folder)
        kin, gaps = self._select_kin(listed.entries)
        left_out = len(kin) - MOST_ASKED
        if left_out > 0:
            gaps.append(f"{left_out} more servers of clones were not asked: {MOST_ASKED} is the limit")
        neighbours = self._ask(kin[:MOST_ASKED], now)
        return Neighbourhood(neighbours, tuple(clean(gap, 600) for gap in (*gaps, *listed.faults)))

    def _select_kin(self, entries: Sequence[Entry]) -> tuple[list[Entry], list[str]]:
        """The other entries of our history, and a sentence about those of which that is unknown."""
        _, epoch = self._own
        kin, gaps, others = [], [], 0
        ours = self._roots.known
        for entry in entries:
            if self._is_of_our_folder(entry):
                kin += [entry] if entry.epoch != epoch else []
            elif ours is None:
                others += 1
            elif entry.root_commits is None:
                gaps.append(f"the server of {entry.common_dir} has not named its root commits, so it may be a clone's")
            elif are_clones(ours, frozenset(entry.root_commits)):
                kin.append(entry)
        if others:
            gaps.append(
                f"{others} of the servers on this machine may be clones', which is unknown as long as the "
                f"root commits of this repository are: {self._roots.reason}"
            )
        return kin, gaps

    def _ask(self, kin: Sequence[Entry], now: float) -> tuple[Neighbour, ...]:
        """Ask all but those that were silent lately. Sorted by the paths of their boards."""
        waited = {path: now - since for path, since in self._silent.items()}
        quiet = {path: seconds for path, seconds in waited.items() if 0 <= seconds < SILENT_SECONDS}
        answers = ask_all([entry for entry in kin if entry.socket not in quiet], kind=self._find_kind)
        self._silent = {path: self._silent[path] for path in quiet}
        self._silent |= {entry.socket: now for entry, answer in answers if answer.board.condition == "silent"}
        answers += [
            (entry, _as_remembered(entry, quiet[entry.socket], self._find_kind(entry)))
            for entry in kin
            if entry.socket in quiet
        ]
        newest = self._find_newest(kin)
        seen = [
            mark_superseded(entry, answer) if entry.epoch < newest[entry.common_dir] else answer
            for entry, answer in answers
        ]
        return tuple(sorted(seen, key=lambda neighbour: neighbour.board.path or ""))

    def _is_of_our_folder(self, entry: Entry) -> bool:
        """Whether it serves our own git folder: by its path, or by its inode if the folder was moved."""
        return entry.common_dir == self._own[0] or (entry.folder is not None and entry.folder == self._folder_id)

    def _find_kind(self, entry: Entry) -> Kind:
        return "server" if self._is_of_our_folder(entry) else "clone"

    def _find_newest(self, kin: Sequence[Entry]) -> dict[str, int]:
        """The newest epoch of each repository. Its older servers are superseded, even if they do not know it yet."""
        newest = dict((self._own,))
        for entry in kin:
            newest[entry.common_dir] = max(entry.epoch, newest.get(entry.common_dir, 0))
        return newest


def _always_clone(entry: Entry) -> Kind:  # noqa: ARG001 - every entry
    return "clone"


def ask_all(
    entries: Sequence[Entry], seconds: float = ASK_SECONDS, kind: Callable[[Entry], Kind] = _always_clone
) -> list[tuple[Entry, Neighbour]]:
    """Ask each server in a thread of its own, and wait for all of them a little longer than each may take."""
    answers: dict[int, Neighbour] = {}

    def ask(at: int) -> None:
        answers[at] = ask_server(entries[at], seconds, kind(entries[at]))

    threads = [threading.Thread(target=ask, args=(at,), daemon=True) for at in range(len(entries))]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds + _GRACE_SECONDS
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    late = f"the answer of its server was not read within {seconds * 1000:.0f} ms"
    return [
        (entry, answers.get(at) or make_unread(entry, "silent", late, kind(entry))) for at, entry in enumerate(entries)
    ]


def _as_remembered(entry: Entry, seconds: float, kind: Kind) -> Neighbour:
    return make_unread(
        entry,
        "silent",
        f"its server (pid {entry.pid}) gave no answer {seconds:.0f} s ago; it is asked again every {SILENT_SECONDS:.0f} s",
        kind,
    )
