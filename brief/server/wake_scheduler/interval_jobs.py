"""APScheduler, as far as it is used: one interval job a session. Imported once a session is to be woken, since it is slow.

Its traps are met elsewhere: an interval of zero, which it takes for a second, cannot be written in a policy; a wall
clock that is set back, which stalls it, is found by the schedule's own look, which places the next beat anew.
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
    """Calls `beat` for each session at its interval, in the running event loop; `faulty` hears of what went wrong."""

    def __init__(
        self, beat: Callable[[str], Awaitable[None]], faulty: Callable[[str, BaseException | None], None]
    ) -> None:
        self._beat = beat
        self._faulty = faulty
        self._intervals: dict[str, timedelta] = {}
        self._under_way: set[str] = set()
        self._scheduler = AsyncIOScheduler(
            timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        )
        self._scheduler.add_listener(self._heard)
        self._scheduler.start()

    def next(self, session: str) -> datetime | None:
        """When the next beat of a session is; None where it has none."""
        job = self._scheduler.get_job(session)
        return job.next_run_time if job else None

    def place(self, session: str, at: datetime, interval: timedelta) -> None:
        """Let the next beat of a session be at `at`, and then one an interval."""
        if self._intervals.get(session) == interval:
            self._scheduler.modify_job(session, next_run_time=at)
            return
        seconds = interval.total_seconds()
        self._scheduler.add_job(
            self._beat,
            "interval",
            args=(session,),
            seconds=seconds,
            id=session,
            next_run_time=at,
            replace_existing=True,
        )
        self._intervals[session] = interval

    def is_under_way(self, session: str) -> bool:
        """Whether a beat of a session was called and is not over."""
        return session in self._under_way

    def sessions(self) -> frozenset[str]:
        """Who has beats."""
        return frozenset(self._intervals)

    def interval(self, session: str) -> timedelta | None:
        """The interval of a session's beats."""
        return self._intervals.get(session)

    def drop(self, session: str) -> None:
        """Let a session have no more beats."""
        if self._intervals.pop(session, None) is not None:
            self._scheduler.remove_job(session)

    def end(self) -> None:
        """Let nobody have any."""
        self._scheduler.shutdown(wait=False)

    def _heard(self, event: Any) -> None:
        if event.code == EVENT_JOB_SUBMITTED:
            self._under_way.add(event.job_id)
        elif event.code in _ENDS:
            self._under_way.discard(event.job_id)
        if event.code in _FAULTS:
            self._faulty(_FAULTS[event.code], getattr(event, "exception", None))
