"""The rules of when a session is woken to read its brief. They use no clock: moments are arguments.

A session is due its brief one interval after its last one. The time passed is the longer of two measurements: by the wall
clock, which also runs while the computer sleeps or no server runs, and by a monotonic clock. So a wall clock that is set
back never stalls the schedule, and one that is set forward wakes a session only once.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from brief.core.model.section_data import EpisodeState
from brief.core.policy.settings import Settings

MINUTE = timedelta(minutes=1)
NOTHING = timedelta(0)


class Instant(Struct, frozen=True):
    """A moment by the wall clock and, in seconds, by a monotonic clock. `steady` is None if another process read it."""

    wall: datetime
    steady: float | None = None

    def earlier_by(self, span: timedelta) -> Instant:
        """The moment `span` earlier, by both clocks."""
        return Instant(self.wall - span, None if self.steady is None else self.steady - span.total_seconds())


class WakeStatus(StrEnum):
    """Whether a session is woken, or what prevents that."""

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


class Rules(Struct, frozen=True):
    """The policy's settings for waking. A `limit` of 0 means no limit; `changed` wakes a session only for new facts."""

    on: bool
    interval: timedelta
    limit: int
    changed: bool


class Cadence(Struct, frozen=True):
    """A session's state as far as the rules need it: its last brief, and its wakes since a person last spoke to it."""

    anchor: Instant
    unprompted: int = 0
    stopped: bool = False
    paused: bool = False
    waiting: bool = False


class QueueWake(Struct, frozen=True):
    """Queue a wake that is due. `missed` further intervals passed while nobody could queue theirs."""

    missed: int


class SkipWakes(Struct, frozen=True):
    """Skip `count` wakes that were due, and why."""

    why: Skip
    count: int


Verdict = QueueWake | SkipWakes | None
"""What the schedule does at a moment. None if nothing is due or waking is off."""


def rules_of_policy(settings: Settings, minute: timedelta) -> Rules:
    """The rules of a policy. `minute` is the length of one of its minutes, which tests shorten."""
    session = settings.session
    return Rules(
        on=session.brief_on_interval,
        interval=session.brief_interval_minutes * minute,
        limit=session.wake_limit,
        changed=session.brief_when == "changed",
    )


# ---------------------------------------------------------------- time


def time_since(anchor: Instant, now: Instant) -> timedelta:
    """How long ago `anchor` was, never negative."""
    by_wall = now.wall - anchor.wall
    if anchor.steady is None or now.steady is None:
        return max(NOTHING, by_wall)
    return max(NOTHING, by_wall, timedelta(seconds=now.steady - anchor.steady))


def count_due(anchor: Instant, interval: timedelta, now: Instant) -> int:
    """How many whole intervals have passed since `anchor`; 0 means that no wake is due. `interval` is above zero."""
    return time_since(anchor, now) // interval


def time_left(anchor: Instant, interval: timedelta, now: Instant) -> timedelta:
    """How long until a wake is due: zero if one is due now, and never more than the interval."""
    return max(NOTHING, interval - time_since(anchor, now))


def settle_anchor(anchor: Instant, now: Instant) -> Instant:
    """The anchor by both clocks of this process, and never ahead of the wall clock."""
    return anchor if anchor.steady is not None else now.earlier_by(time_since(anchor, now))


def skip_due_intervals(anchor: Instant, interval: timedelta, now: Instant) -> Instant:
    """The anchor after the wakes that are due are dealt with. It keeps the started interval, so the rhythm stays."""
    return now.earlier_by(time_since(anchor, now) % interval)


# ---------------------------------------------------------------- decisions


def wake_status(cadence: Cadence, rules: Rules) -> WakeStatus:
    """Whether the session is woken. If several things prevent it, the one that a person would have to change first."""
    if not rules.on:
        return WakeStatus.OFF
    if cadence.paused:
        return WakeStatus.PAUSED
    if cadence.stopped:
        return WakeStatus.STOPPED
    if 0 < rules.limit <= cadence.unprompted:
        return WakeStatus.LIMIT
    return WakeStatus.ON


def is_follow_up_due(anchor: Instant, follow_up_due: datetime | None, now: Instant) -> bool:
    """Whether a follow-up is due to the session since its last brief. It then wakes the session at once, and only once.

    After the wall clock was set back, a follow-up may lie in the future and would be newer than every brief. It waits for
    the interval.
    """
    return follow_up_due is not None and anchor.wall < follow_up_due <= now.wall


def decide_wake(cadence: Cadence, rules: Rules, now: Instant, follow_up_due: datetime | None = None) -> Verdict:
    """What the schedule does now. Once the facts are composed, `is_news` decides whether they are new.

    `follow_up_due` is since when a follow-up is due to the session, which ends the interval early.
    """
    count = count_due(cadence.anchor, rules.interval, now)
    status = wake_status(cadence, rules)
    if status is WakeStatus.ON and not cadence.waiting and is_follow_up_due(cadence.anchor, follow_up_due, now):
        return QueueWake(max(0, count - 1))
    if count == 0 or status is WakeStatus.OFF:
        return None
    if status is not WakeStatus.ON:
        return SkipWakes(_SKIPS[status], count)
    return SkipWakes(Skip.WAITING, count) if cadence.waiting else QueueWake(count - 1)


def is_news(rules: Rules, facts_read: str | None, facts: str) -> bool:
    """Whether a session is woken for these facts, given the facts that it last read."""
    return not rules.changed or facts != facts_read


def is_brief_due(cadence: Cadence, rules: Rules, now: Instant, briefed: datetime | None) -> bool:
    """Whether a person's prompt carries the brief: a session's first prompt does, then one each interval if waking is on.

    `briefed` is when the session last had its brief, or None. A wake that waits in the outbox counts as due.
    """
    if briefed is None:
        return True
    is_over = cadence.waiting or count_due(cadence.anchor, rules.interval, now) > 0
    return rules.on and (is_over or abs(now.wall - briefed) >= rules.interval)


def may_be_handed_out(state: EpisodeState, *, draft: bool) -> bool:
    """Whether a prompt may be submitted: never to a busy session, nor while a person is answering or typing."""
    return state is EpisodeState.IDLE and not draft
