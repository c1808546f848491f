"""When a session is woken to read its brief: every rule, and no clock. Moments come in as arguments.

A session is owed its brief one interval after it last had one. What counts as passed is the longer of two times: the
wall clock's, which goes on while a computer sleeps and while no server runs, and that of a clock which is never set.
So a wall clock that is set back stalls nothing, and one that is set forward wakes once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from brief.core.model.brief import EpisodeState
from brief.core.policy.settings import Settings

MINUTE = timedelta(minutes=1)
NOTHING = timedelta(0)


@dataclass(frozen=True, slots=True)
class Instant:
    """A moment by two clocks: the wall's, and seconds by one that is never set, None where another process read it."""

    wall: datetime
    steady: float | None = None

    def before(self, span: timedelta) -> Instant:
        """The moment that lies `span` before this one, by both clocks."""
        return Instant(self.wall - span, None if self.steady is None else self.steady - span.total_seconds())


class WakeStatus(StrEnum):
    """Whether a session is woken, and what keeps it from that."""

    ON = "on"
    OFF = "off"
    PAUSED = "paused"
    LIMIT = "limit"
    STOPPED = "stopped"


class Skip(StrEnum):
    """Why a wake that was due was not queued."""

    MISSED = "missed"
    WAITING = "one waits"
    UNCHANGED = "unchanged"
    PAUSED = "paused"
    LIMIT = "limit"
    STOPPED = "stopped"


_SKIPS = {WakeStatus.PAUSED: Skip.PAUSED, WakeStatus.LIMIT: Skip.LIMIT, WakeStatus.STOPPED: Skip.STOPPED}


@dataclass(frozen=True, slots=True)
class Rules:
    """What the policy says of waking: `on` is its switch, `limit` 0 sets none, `changed` wakes only for new facts."""

    on: bool
    interval: timedelta
    limit: int
    changed: bool


@dataclass(frozen=True, slots=True)
class Cadence:
    """One session's: when it last had its brief, and what became of its wakes since a person last spoke to it."""

    anchor: Instant
    unprompted: int = 0
    stopped: bool = False
    paused: bool = False
    waiting: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    """A wake is due; `missed` intervals beside it went by with nobody there to queue theirs."""

    missed: int


@dataclass(frozen=True, slots=True)
class Pass:
    """`count` wakes were due and are not queued, and why."""

    why: Skip
    count: int


Verdict = Queue | Pass | None
"""What is done at a moment; None where nothing is due, or the switch is off."""


def rules(settings: Settings, minute: timedelta) -> Rules:
    """The rules of a policy, whose minutes last so long."""
    session = settings.session
    return Rules(
        on=session.brief_on_interval,
        interval=session.brief_interval_minutes * minute,
        limit=session.wake_limit,
        changed=session.brief_when == "changed",
    )


# ---------------------------------------------------------------- time


def elapsed(anchor: Instant, now: Instant) -> timedelta:
    """How long ago `anchor` was, never negative."""
    by_wall = now.wall - anchor.wall
    if anchor.steady is None or now.steady is None:
        return max(NOTHING, by_wall)
    return max(NOTHING, by_wall, timedelta(seconds=now.steady - anchor.steady))


def due(anchor: Instant, interval: timedelta, now: Instant) -> int:
    """How many whole intervals, each above zero, went by since `anchor`: 0 where no wake is due yet."""
    return elapsed(anchor, now) // interval


def remaining(anchor: Instant, interval: timedelta, now: Instant) -> timedelta:
    """How long until a wake is due: nothing where one is, and never longer than the interval."""
    return max(NOTHING, interval - elapsed(anchor, now))


def settled(anchor: Instant, now: Instant) -> Instant:
    """The anchor as this process can rely on it: not ahead of the wall clock, and known by the steady clock too."""
    return anchor if anchor.steady is not None else now.before(elapsed(anchor, now))


def passed(anchor: Instant, interval: timedelta, now: Instant) -> Instant:
    """The anchor once the wakes that are due are dealt with: what is left of an interval stays, so the beat is kept."""
    return now.before(elapsed(anchor, now) % interval)


# ---------------------------------------------------------------- judgement


def wake_status(cadence: Cadence, rules: Rules) -> WakeStatus:
    """Whether the session is woken now; of several reasons against it the first that a person would have to change."""
    if not rules.on:
        return WakeStatus.OFF
    if cadence.paused:
        return WakeStatus.PAUSED
    if cadence.stopped:
        return WakeStatus.STOPPED
    if 0 < rules.limit <= cadence.unprompted:
        return WakeStatus.LIMIT
    return WakeStatus.ON


def is_called(anchor: Instant, called: datetime | None, now: Instant) -> bool:
    """Whether a session is owed something of its own since it last had its brief: it is woken for that at once, and once.

    What a wall clock dates ahead of now, since it was set back, would be newer than every brief: it waits for the interval.
    """
    return called is not None and anchor.wall < called <= now.wall


def verdict(cadence: Cadence, rules: Rules, now: Instant, called: datetime | None = None) -> Verdict:
    """What the schedule does now. Whether the facts are new is judged by `is_news`, once they are composed.

    `called` is since when something is owed to the session, which ends the interval sooner.
    """
    count = due(cadence.anchor, rules.interval, now)
    stands = wake_status(cadence, rules)
    if stands is WakeStatus.ON and not cadence.waiting and is_called(cadence.anchor, called, now):
        return Queue(max(0, count - 1))
    if count == 0 or stands is WakeStatus.OFF:
        return None
    if stands is not WakeStatus.ON:
        return Pass(_SKIPS[stands], count)
    return Pass(Skip.WAITING, count) if cadence.waiting else Queue(count - 1)


def is_news(rules: Rules, told: str | None, facts: str) -> bool:
    """Whether a session is woken for these facts, given those it was told last."""
    return not rules.changed or facts != told


def is_owed_with_prompt(cadence: Cadence, rules: Rules, now: Instant, briefed: datetime | None) -> bool:
    """Whether a person's prompt carries the brief: the first of a session does, and one an interval while it is on.

    `briefed` is when the session last had its brief, None where it never had. What waits in the outbox is owed.
    """
    if briefed is None:
        return True
    is_over = cadence.waiting or due(cadence.anchor, rules.interval, now) > 0
    return rules.on and (is_over or abs(now.wall - briefed) >= rules.interval)


def may_be_handed_out(state: EpisodeState, *, draft: bool) -> bool:
    """Whether a prompt may be submitted to a session: not to a busy one, and not while a person is answering or typing."""
    return state is EpisodeState.IDLE and not draft
