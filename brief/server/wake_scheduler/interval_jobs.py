"""One APScheduler interval job for each session. Imported only once a session is to be woken, because it loads slowly.

Two traps of APScheduler are avoided elsewhere. It reads an interval of zero as one second, which a policy cannot contain. It stalls
if the wall clock is set back, which the schedule's regular check notices and corrects.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_EXECUTED,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    EVENT_JOB_SUBMITTED,
)
from apscheduler.schedulers.asyncio import AsyncIOScheduler

logging.getLogger("apscheduler").setLevel(logging.WARNING)

_FAULTS = {EVENT_JOB_MISSED: "missed", EVENT_JOB_MAX_INSTANCES: "overrun", EVENT_JOB_ERROR: "failed"}

_ENDS = (EVENT_JOB_EXECUTED, EVENT_JOB_ERROR, EVENT_JOB_MISSED)


class IntervalJobs:
    """Calls `beat` for each session at its interval, in the running event loop. Faults of runs go to `faulty`."""

    def __init__(
        self, beat: Callable[[str], Awaitable[None]], faulty: Callable[[str, BaseException | None], None]
    ) -> None:
        self._run = beat
        self._report = faulty
        self._intervals: dict[str, timedelta] = {}
        self._under_way: set[str] = set()
        self._scheduler = AsyncIOScheduler(
            timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        )
        self._scheduler.add_listener(self._handle_event)
        self._scheduler.start()

    def next_run(self, session: str) -> datetime | None:
        """When the next run of a session is, or None if it has no job."""
        job = self._scheduler.get_job(session)
        return job.next_run_time if job else None

    def place_job(self, session: str, at: datetime, interval: timedelta) -> None:
        """Run the job of a session at `at`, and then once an interval."""
        if self._intervals.get(session) == interval:
            self._scheduler.modify_job(session, next_run_time=at)
            return
        seconds = interval.total_seconds()
        self._scheduler.add_job(
            self._run,
            "interval",
            args=(session,),
            seconds=seconds,
            id=session,
            next_run_time=at,
            replace_existing=True,
        )
        self._intervals[session] = interval

    def is_under_way(self, session: str) -> bool:
        """Whether a run of a session has started and not ended."""
        return session in self._under_way

    def sessions(self) -> frozenset[str]:
        """The sessions that have a job."""
        return frozenset(self._intervals)

    def interval(self, session: str) -> timedelta | None:
        """The interval of a session's job."""
        return self._intervals.get(session)

    def drop_job(self, session: str) -> None:
        """Remove the job of a session."""
        if self._intervals.pop(session, None) is not None:
            self._scheduler.remove_job(session)

    def shut_down(self) -> None:
        """Shut the scheduler down."""
        self._scheduler.shutdown(wait=False)

    def _handle_event(self, event: Any) -> None:
        if event.code == EVENT_JOB_SUBMITTED:
            self._under_way.add(event.job_id)
        elif event.code in _ENDS:
            self._under_way.discard(event.job_id)
        if event.code in _FAULTS:
            self._report(_FAULTS[event.code], getattr(event, "exception", None))
