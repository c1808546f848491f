"""Decide whether a notice is shown now, how urgent it is, and what its countdown says, in local days."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

from msgspec import Struct

from brief.core.notices.days import EARLIEST, begin_of, local_day, spell_when
from brief.core.notices.notice import Kind, Notice, NoticeStatus, Severity, When
from brief.core.notices.recurrence import first_due
from brief.core.sessions.life import Life

DAYS_SHOWN = {Severity.HIGH: 999, Severity.NORMAL: 7, Severity.LOW: 3}
"""The age in days up to which a notice without dates is shown, by severity."""

_INSTANT = timedelta(microseconds=1)


class Shown(Struct, frozen=True, kw_only=True):
    """A notice to show. `countdown` says when it is due; `urgency` is the days to its nearest date, negative if overdue.

    Both are None for a notice without dates. `fired` means that its `fires_on` has come. `lock_owner` is None for a notice
    that is not a lock.
    """

    notice: Notice
    countdown: str | None
    urgency: int | None
    fired: bool
    lock_owner: Life | None


class Hidden(Struct, frozen=True):
    """A notice that is not shown now, and why. `in_days` is in how many days it fires, None if it does not fire."""

    notice: Notice
    reason: str
    in_days: int | None = None

    @property
    def countdown(self) -> str | None:
        """When it fires, as shown in a list of reminders."""
        if self.in_days is None:
            return None
        return f"🔔 in {self.in_days}d" if self.in_days else "🔔 later today"


class Expired(Struct, frozen=True):
    """A notice that will never be shown again and belongs in the archive, and why."""

    notice: Notice
    reason: str


Verdict: TypeAlias = Shown | Hidden | Expired


def decide_visibility(notice: Notice, now: datetime, zone: ZoneInfo, lock_owner: Life = Life.UNKNOWN) -> Verdict:
    """Decide what happens to a notice at the aware moment `now`, with days in `zone`.

    `fires_on` is inclusive: it counts from its first moment. `expires` is exclusive: it counts until its first moment.
    """
    if notice.status is NoticeStatus.DONE:
        return Hidden(notice, "it is done")
    due = first_due(notice, now, zone)
    if due is not None and begin_of(due, zone) > now:
        in_days = (local_day(begin_of(due, zone), zone) - local_day(now, zone)).days
        return Hidden(notice, f"it fires on {spell_when(due)}", in_days)
    if notice.expires is not None and begin_of(notice.expires, zone) <= now:
        return Expired(notice, f"it expired on {spell_when(notice.expires)}")
    if too_old := _too_old(notice, now, zone, lock_owner):
        return Expired(notice, too_old)
    return _show(notice, due, now, zone, lock_owner)


def is_held(lock: Notice, now: datetime, zone: ZoneInfo, owner: Life = Life.UNKNOWN) -> bool:
    """Whether a notice is a lock in force now: not done, not expired and not in the future."""
    return lock.kind is Kind.LOCK and isinstance(decide_visibility(lock, now, zone, owner), Shown)


def never_shown(notice: Notice, now: datetime, zone: ZoneInfo) -> str | None:
    """Why the dates of a notice that is about to be left keep it from ever being shown; None where they do not."""
    if notice.expires is None:
        return None
    end = spell_when(notice.expires)
    if begin_of(notice.expires, zone) <= now:
        return (
            f"expires: {end} is over already: a notice is last shown just before that begins, and now it is "
            f"{now.astimezone(zone).isoformat(' ', 'minutes')}; give a later day or moment, or leave it out"
        )
    due = first_due(notice, now, zone)
    if due is not None and begin_of(due, zone) >= begin_of(notice.expires, zone):
        return (
            f"expires: {end} is not after {spell_when(due)}, the day or moment from which the notice is due, so it would "
            "never be shown; give a later expires, or leave it out"
        )
    return None


def may_be_acknowledged(notice: Notice) -> bool:
    """Whether a session that has read the notice may be done with it: a courtesy, or an alert that asks for nothing by a day."""
    if notice.kind is Kind.ALERT:
        return notice.fires_on is None and notice.recurring is None
    return notice.kind is Kind.COURTESY


def order_shown(shown: Shown) -> tuple[bool, int, bool, int, str]:
    """The sort key: locks first, then by descending priority, then by date, then by slug.

    The longest overdue or nearest date comes first, and a notice without a date last.
    """
    is_lock = shown.notice.kind is Kind.LOCK
    return (not is_lock, -shown.notice.priority, shown.urgency is None, shown.urgency or 0, shown.notice.slug)


def _too_old(notice: Notice, now: datetime, zone: ZoneInfo, lock_owner: Life) -> str | None:
    """Why a notice without dates is too old, or None. A lock never is while its owner may still be alive."""
    if notice.created is None or notice.expires or notice.fires_on or notice.recurring:
        return None
    if notice.kind is Kind.LOCK and lock_owner is not Life.GONE:
        return None
    age = (local_day(now, zone) - local_day(begin_of(notice.created, zone), zone)).days
    limit = DAYS_SHOWN[notice.severity]
    return f"it is {age} days old; severity {notice.severity} is shown for {limit} days" if age > limit else None


def _show(notice: Notice, due: When | None, now: datetime, zone: ZoneInfo, lock_owner: Life) -> Shown:
    today = local_day(now, zone)
    countdowns: list[str] = []
    days: list[int] = []
    if due is not None:
        overdue = (today - local_day(begin_of(due, zone), zone)).days
        countdowns.append(f"🔔 [OVERDUE {overdue}d]" if overdue > 0 else "🔔 TODAY")
        days.append(-overdue)
    if notice.expires is not None:
        last_moment = max(begin_of(notice.expires, zone), EARLIEST + _INSTANT) - _INSTANT
        left = (local_day(last_moment, zone) - today).days
        countdowns.append(f"⏳ {left}d left" if left > 0 else "⚠️ EXPIRES TODAY")
        days.append(left)
    return Shown(
        notice=notice,
        countdown=" ".join(countdowns) or None,
        urgency=min(days, default=None),
        fired=due is not None,
        lock_owner=lock_owner if notice.kind is Kind.LOCK else None,
    )
