"""The schedule of one server: once an interval, it puts a prompt into the outbox of each session that is to be woken.

`core/wakes/rules.py` alone decides what is due. APScheduler only calls at the right time. A regular check, on a clock that is never
set, adds and removes jobs and moves each one whose next run is wrong: because the policy changed, a brief was delivered by
another channel, or the wall clock was set.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import replace

from brief.core.model.errors import MajordomusError
from brief.core.wakes.rules import NOTHING, QueueWake, Rules, decide_wake, time_left
from brief.core.wakes.state import Entry, Prompt, WakeState, change_nothing, restart_interval, run_schedule
from brief.handlers.waking import compose_wake, rules_in, uncomposed_wake, why_untrusted
from brief.server.wake_scheduler.run_faults import RunFaults
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread
from brief.support.schedule_clock import one_minute

if TYPE_CHECKING:
    from brief.server.wake_scheduler.interval_jobs import IntervalJobs

CHECKS_A_MINUTE = 6
"""How often the schedule checks its jobs."""

MOST_AT_ONCE = 4
"""How many prompts are composed at the same time."""

TOLERANCE = timedelta(seconds=1)

log = logging.getLogger(__name__)


class _Plan(Struct, frozen=True):
    """A session to be woken: its rules, the state of its wakes, and since when a follow-up is due."""

    rules: Rules
    wake_state: WakeState
    follow_up_due: datetime | None


class Schedule:
    """Wakes the sessions of a repository while `holds` is true, that is, while this server may write."""

    def __init__(self, service: RepositoryService, faults: RunFaults, holds: Callable[[], bool]) -> None:
        self._service = service
        self._faults = faults
        self._holds = holds
        self._wakes = service.board.wakes
        self._jobs: IntervalJobs | None = None
        self._off: set[str] = set()
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)

    async def keep(self) -> None:
        """Check the jobs six times a minute until this server no longer holds the lease."""
        try:
            while self._holds():
                try:
                    await self.place_jobs()
                except Exception:
                    log.exception("the schedule could not check its jobs; it tries again")
                await asyncio.sleep(one_minute().total_seconds() / CHECKS_A_MINUTE)
        finally:
            self.end()

    def end(self) -> None:
        """Stop all jobs."""
        if self._jobs is not None:
            self._jobs.shut_down()
            self._jobs = None

    async def place_jobs(self) -> None:
        """Give every session that is to be woken a job at the right time, and remove all other jobs."""
        plans = await in_thread(self._make_plans)
        if self._jobs is None:
            if not plans:
                return
            self._jobs = await _create_jobs(self.run_session, self._faults.count_fault)
        for session in self._jobs.sessions() - plans.keys():
            self._jobs.drop_job(session)
        for session, plan in plans.items():
            if not self._jobs.is_under_way(session):
                self._place_job(self._jobs, session, plan)

    def _place_job(self, jobs: IntervalJobs, session: str, plan: _Plan) -> None:
        now = self._wakes.instant(self._service.now())
        is_due = isinstance(decide_wake(plan.wake_state.cadence, plan.rules, now, plan.follow_up_due), QueueWake)
        left = NOTHING if is_due else time_left(plan.wake_state.anchor, plan.rules.interval, now)
        placed = jobs.next_run(session)
        is_in_place = placed is not None and abs(placed - now.wall - left) <= TOLERANCE and left > NOTHING
        if not is_in_place or jobs.interval(session) != plan.rules.interval:
            jobs.place_job(session, now.wall + left, plan.rules.interval)

    def _make_plans(self) -> dict[str, _Plan]:
        """The open sessions to be woken. A session whose switch was off starts a new interval once it is on."""
        rules, wake_states = self._list_rules(), self._wakes.open()
        on = {session: each for session, each in rules.items() if each.on}
        for session in rules.keys() - on.keys() - self._off:
            self._restart_interval(session, known=session in wake_states)
        for session in self._off & on.keys():
            self._restart_interval(session, known=True)
        self._off = rules.keys() - on.keys()
        plans = {session: self._make_plan(session, each, wake_states) for session, each in on.items()}
        return {session: plan for session, plan in plans.items() if plan is not None}

    def _make_plan(self, session: str, rules: Rules, wake_states: dict[str, WakeState]) -> _Plan | None:
        """Plan the wakes of a session. None if their state cannot be read, which `wake list` reports."""
        with contextlib.suppress(MajordomusError):
            return _Plan(rules, self._wake_state(session, wake_states), self._follow_up_due(session))
        return None

    def _follow_up_due(self, session: str) -> datetime | None:
        """Return since when the newest follow-up of a session is due. None if it has none."""
        return max((follow_up.since for follow_up in self._service.board.follow_ups(session)), default=None)

    def _wake_state(self, session: str, wake_states: dict[str, WakeState]) -> WakeState:
        """Return the state of a session's wakes, with the steady clock in its anchor."""
        wake_state = wake_states.get(session)
        if wake_state is not None and wake_state.anchor.steady is not None:
            return wake_state
        return self._wakes.change(session, self._service.now(), change_nothing)[0]

    def _list_rules(self) -> dict[str, Rules]:
        """The rules of every open session, except those whose checkout cannot be accessed."""
        checkouts: dict[str, Rules | None] = {}
        found: dict[str, Rules] = {}
        for one in self._service.board.open_episodes():
            if one.episode.checkout not in checkouts:
                checkouts[one.episode.checkout] = self._read_rules(one.episode.checkout)
            rules = checkouts[one.episode.checkout]
            if rules is not None:
                found[one.episode.id] = self._as_trusted(rules, one.episode.id)
        return found

    def _as_trusted(self, rules: Rules, session: str) -> Rules:
        return replace(rules, on=False) if rules.on and why_untrusted(self._service, session) else rules

    def _read_rules(self, checkout: str) -> Rules | None:
        with contextlib.suppress(MajordomusError):
            return rules_in(self._service, checkout)
        return None

    def _restart_interval(self, session: str, *, known: bool) -> None:
        if not known:
            return
        with contextlib.suppress(MajordomusError):
            now = self._wakes.instant(self._service.now())
            self._wakes.change(session, now.wall, lambda wake_state: restart_interval(wake_state, now))

    # ------------------------------------------------------------ one run

    async def run_session(self, session: str) -> None:
        """Do what is due for one session, at most four sessions at a time."""
        async with self._turns:
            await self._run_due(session)

    async def _run_due(self, session: str) -> None:
        checkout = await self._apply_rules(session, None)
        if checkout is not None:  # only the composed prompt shows whether the session is woken at all
            request = await in_thread(lambda: self._service.request_context(checkout, session))
            await self._apply_rules(session, await compose_wake(self._service, request))

    async def _apply_rules(self, session: str, composed: Prompt | None) -> str | None:
        """Do what is due by the present rules, even if they changed while the prompt was composed.

        Returns the session's checkout if a wake is due whose prompt must be composed first, else None.
        """
        checkout, entries = await in_thread(lambda: self._run_schedule(session, composed))
        self._faults.count_entries(entries)
        return checkout

    def _run_schedule(self, session: str, composed: Prompt | None) -> tuple[str | None, tuple[Entry, ...]]:
        known = self._service.board.find_open(session)
        if known is None or not self._holds():
            return None, ()
        checkout, moment = known.episode.checkout, self._service.now()
        rules, now = self._as_trusted(rules_in(self._service, checkout), session), self._wakes.instant(moment)
        follow_up_due = self._follow_up_due(session)
        prompt = composed if composed is not None or rules.changed else uncomposed_wake(moment)
        wake_state, entries = self._wakes.change(
            session, moment, lambda wake_state: run_schedule(wake_state, rules, now, prompt, follow_up_due)
        )
        return checkout if isinstance(
            decide_wake(wake_state.cadence, rules, now, follow_up_due), QueueWake
        ) else None, entries


async def _create_jobs(
    beat: Callable[[str], Awaitable[None]], faulty: Callable[[str, BaseException | None], None]
) -> IntervalJobs:
    """Create the jobs. APScheduler is imported in a thread, while the event loop goes on answering."""
    module = await in_thread(lambda: importlib.import_module("brief.server.wake_scheduler.interval_jobs"))
    return cast("type[IntervalJobs]", module.IntervalJobs)(beat, faulty)
