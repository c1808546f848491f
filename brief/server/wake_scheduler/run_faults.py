"""Counts the faults of the schedule. Every brief mentions them for a day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from brief.core.text.sanitize import clean
from brief.core.wakes.rules import Skip
from brief.core.wakes.state import Entry

TOLD_FOR = timedelta(days=1)


class RunFaults:
    """The counts of one server. `now` is the wall clock. Only the event loop writes; any thread may read."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._counts: Counter[str] = Counter()
        self._last: datetime | None = None
        self._error = ""

    def count_entries(self, entries: Sequence[Entry]) -> None:
        """Count the wakes that were made up, and the missed ones that they replace."""
        for entry in entries:
            if entry.detail in ("made up", Skip.MISSED):
                self._add(entry.detail, entry.count)

    def count_fault(self, kind: str, error: BaseException | None) -> None:
        """Count a run that the scheduler `missed`, that was skipped as an `overrun`, or that `failed` with an error."""
        self._add(kind if kind != "missed" else "late", 1)
        if error is not None:
            self._error = clean(f"{type(error).__name__}: {error}", 200)

    def remarks(self) -> tuple[str, ...]:
        """A sentence for each kind of fault, if there was any within a day."""
        if self._last is None or abs(self._now() - self._last) > TOLD_FOR:
            return ()
        count = self._counts
        said = {
            f"{_count_runs(count['made up'])} made up, {count[Skip.MISSED]} skipped": count["made up"],
            f"{_count_runs(count['overrun'])} skipped because the previous one was still running": count["overrun"],
            f"{_count_runs(count['late'])} missed": count["late"],
            f"{_count_runs(count['failed'])} failed, the last with {self._error}": count["failed"],
        }
        return tuple(f"schedule: {sentence}" for sentence, happened in said.items() if happened)

    def _add(self, kind: str, count: int) -> None:
        self._counts[kind] += count
        self._last = self._now()


def _count_runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"
