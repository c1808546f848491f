"""When a notice recurs. An occurrence is computed from its number, so no loop is needed even across centuries."""

from __future__ import annotations

from bisect import bisect_right
from calendar import monthrange
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from msgspec import Struct

from brief.core.notices.days import LATEST, begin_of, local_day
from brief.core.notices.notice import Notice, Recurring, When

DAY_FIELD = "recurs_day"
"""The field that keeps the intended day of the month if `fires_on` fell into a shorter month."""

DONE_FIELD = "done_at"
"""The field of a recurring notice that keeps when an occurrence of it was last set to done."""

_MOST_OCCURRENCES = 4_000_000  # more than there are days in the calendar
_BY_DAY_OF_MONTH = (Recurring.MONTHLY, Recurring.YEARLY)
_SATURDAY = 5


class Moved(Struct, frozen=True):
    """What `alerts done` writes into a recurring notice. `recurs_day` is None if `fires_on` alone implies it."""

    fires_on: When
    recurs_day: int | None


def first_due(notice: Notice, now: datetime, zone: ZoneInfo) -> When | None:
    """The first occurrence that is not done yet, in the past or future. None for a notice that is never due.

    It is `fires_on`, or with `weekdays` the next Monday if that is a weekend. A recurring notice without `fires_on` counts
    from the day it was created, or from today.
    """
    if notice.recurring is None:
        return notice.fires_on
    first: When = notice.fires_on or _day_made(notice, now, zone)
    return occurrence(first, notice.recurring, 0, anchor_day(first, notice.recurring, None))


def next_after_done(notice: Notice, now: datetime, zone: ZoneInfo) -> Moved | None:
    """The next occurrence once the present one is done: after now, and after the present one if that is in the future.

    None if the notice does not recur, or if the calendar ends.
    """
    first = first_due(notice, now, zone)
    if notice.recurring is None or first is None:
        return None
    day = anchor_day(first, notice.recurring, notice.fields.get(DAY_FIELD))
    following = next_occurrence(first, notice.recurring, max(now, begin_of(first, zone)), zone, day)
    if following is None:
        return None
    plain = notice.recurring not in _BY_DAY_OF_MONTH or anchor_day(following, notice.recurring, None) == day
    return Moved(following, None if plain else day)


def is_done_until_due(notice: Notice, now: datetime, zone: ZoneInfo) -> bool:
    """Whether a recurring notice was set to done before and its next occurrence is still ahead: nothing is left to do."""
    if notice.recurring is None or notice.fires_on is None or notice.fields.get(DONE_FIELD) is None:
        return False
    return begin_of(notice.fires_on, zone) > now


def next_occurrence(
    first: When, recurring: Recurring, after: datetime, zone: ZoneInfo, day: int | None = None
) -> When | None:
    """The first occurrence that begins after the moment `after`. None if the calendar ends first.

    `first` is any occurrence. `day` is the intended day of the month, by default that of `first`.
    """
    meant = anchor_day(first, recurring, day)

    def begins(index: int) -> datetime:
        try:
            return begin_of(occurrence(first, recurring, index, meant), zone)
        except OverflowError:
            return LATEST

    index = bisect_right(range(_MOST_OCCURRENCES), after, key=begins)
    return None if begins(index) == LATEST else occurrence(first, recurring, index, meant)


def occurrence(first: When, recurring: Recurring, index: int, day: int) -> When:
    """The occurrence number `index`, where 0 is `first`, at the same time of day. Raises OverflowError past year 9999.

    `monthly` and `yearly` fall on `day`, or on the last day of a shorter month.
    """
    match recurring:
        case Recurring.DAILY:
            return first + timedelta(days=index)
        case Recurring.WEEKDAYS:
            return first + timedelta(days=_weekday_offset(first.weekday(), index))
        case Recurring.WEEKLY:
            return first + timedelta(weeks=index)
    return _in_month(first, index if recurring is Recurring.MONTHLY else 12 * index, day)


def anchor_day(first: When, recurring: Recurring, kept: object) -> int:
    """The intended day of the month: `kept` if `first` may be its shortened form, else the day of `first`.

    The last day of a month stays the last day of every month, so 28 February monthly continues on 31 March.
    """
    last = monthrange(first.year, first.month)[1]
    if first.day < last:
        return first.day
    if isinstance(kept, int) and first.day <= kept <= 31:
        return kept
    return 31 if recurring is Recurring.MONTHLY else first.day


def _day_made(notice: Notice, now: datetime, zone: ZoneInfo) -> date:
    today = local_day(now, zone)
    return today if notice.created is None else min(today, local_day(begin_of(notice.created, zone), zone))


def _weekday_offset(weekday: int, index: int) -> int:
    """Days from a day with this weekday (Monday is 0) to the working day number `index` on or after it."""
    if weekday >= _SATURDAY:
        return 7 - weekday + _weekday_offset(0, index)
    weeks, days = divmod(weekday + index, 5)
    return 7 * weeks + days - weekday


def _in_month(first: When, months: int, day: int) -> When:
    year, month = divmod(first.year * 12 + first.month - 1 + months, 12)
    if year > date.max.year:
        raise OverflowError("the calendar ends with the year 9999")
    return first.replace(year=year, month=month + 1, day=min(day, monthrange(year, month + 1)[1]))
