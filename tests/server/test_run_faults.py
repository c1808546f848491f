from __future__ import annotations

from datetime import timedelta

from brief.core.wakes.rules import Skip
from brief.core.wakes.state import Entry
from brief.server.wake_scheduler.run_faults import RunFaults
from samples import NOW


class Clock:
    """A clock that is moved by hand."""

    now = NOW


def test_nothing_went_wrong() -> None:
    """A schedule that runs as it should says nothing."""
    faults = RunFaults(lambda: NOW)
    faults.count_entries([Entry("wake", "queued"), Entry("skipped", Skip.WAITING, 3)])
    assert faults.remarks() == ()


def test_what_went_wrong() -> None:
    """Each kind of fault is counted and reported for a day after the last one."""
    clock = Clock()
    faults = RunFaults(lambda: clock.now)
    faults.count_entries([Entry("wake", "made up"), Entry("skipped", Skip.MISSED, 26)])
    faults.count_fault("missed", None)
    faults.count_fault("overrun", None)
    faults.count_fault("failed", RuntimeError("bad \x1b[31mday"))
    faults.count_fault("failed", RuntimeError("worse"))
    assert faults.remarks() == (
        "schedule: 1 run made up, 26 skipped",
        "schedule: 1 run skipped because the previous one was still running",
        "schedule: 1 run missed",
        "schedule: 2 runs failed, the last with RuntimeError: worse",
    )
    clock.now += timedelta(days=1, seconds=1)
    assert faults.remarks() == ()
