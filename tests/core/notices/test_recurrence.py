from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.notices.days import begin_of, local_day
from brief.core.notices.notice import Notice, Recurring, When
from brief.core.notices.recurrence import Moved, anchor_day, first_due, next_after_done, next_occurrence, occurrence
from notice_helpers import ZONES, at, notice

PRAGUE = ZoneInfo("Europe/Prague")


def series(first: When, recurring: str, count: int) -> list[str]:
    """The first occurrences, spelled."""
    kind = Recurring(recurring)
    day = anchor_day(first, kind, None)
    return [occurrence(first, kind, index, day).isoformat() for index in range(count)]


def done(made: Notice, local: str) -> Moved | None:
    """Where a notice goes that is done when the clocks of Prague show `local`."""
    return next_after_done(made, at(local, "Europe/Prague"), PRAGUE)


def done_every_time(first: str, recurring: str, times: int) -> list[str]:
    """The days a notice goes through that is done on each of them, rewritten each time as the command does."""
    fields: dict[str, object] = {"fires_on": first, "recurring": recurring}
    days = []
    for _ in range(times):
        went = done(notice(**fields), f"{fields['fires_on']} 12:00")
        assert went is not None
        days.append(str(went.fires_on))
        fields |= {"fires_on": str(went.fires_on), "recurs_day": went.recurs_day}
    return days


@pytest.mark.parametrize(
    ("recurring", "first", "following"),
    [
        ("daily", "2026-02-27", ["2026-02-27", "2026-02-28", "2026-03-01"]),
        ("weekdays", "2026-10-08", ["2026-10-08", "2026-10-09", "2026-10-12"]),
        (
            "weekdays",
            "2026-10-10",
            ["2026-10-12", "2026-10-13", "2026-10-14", "2026-10-15", "2026-10-16", "2026-10-19"],
        ),
        ("weekdays", "2026-10-11", ["2026-10-12", "2026-10-13"]),
        ("weekly", "2026-12-28", ["2026-12-28", "2027-01-04"]),
        ("monthly", "2026-01-31", ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]),
        ("monthly", "2028-01-31", ["2028-01-31", "2028-02-29", "2028-03-31"]),
        ("monthly", "2026-02-28", ["2026-02-28", "2026-03-31", "2026-04-30"]),
        ("monthly", "2026-01-30", ["2026-01-30", "2026-02-28", "2026-03-30", "2026-04-30", "2026-05-30"]),
        ("monthly", "2026-11-15", ["2026-11-15", "2026-12-15", "2027-01-15"]),
        ("yearly", "2028-02-29", ["2028-02-29", "2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"]),
        ("yearly", "2027-02-28", ["2027-02-28", "2028-02-28"]),
    ],
)
def test_occurrences_follow_the_calendar(recurring: str, first: str, following: list[str]) -> None:
    """Each recurrence goes on as a person reads it; the last day of a month stays the last day."""
    assert series(date.fromisoformat(first), recurring, len(following)) == following


def test_an_occurrence_keeps_its_time_of_day() -> None:
    """A local time stays that of the clocks over a clock change, a time with an offset keeps the offset."""
    local = datetime.fromisoformat("2026-10-24 22:30")
    assert series(local, "daily", 2) == ["2026-10-24T22:30:00", "2026-10-25T22:30:00"]
    own = datetime.fromisoformat("2026-10-24 22:30+02:00")
    assert series(own, "weekly", 2)[1] == "2026-10-31T22:30:00+02:00"


@pytest.mark.parametrize(
    ("recurring", "first", "days"),
    [
        ("monthly", "2026-01-31", ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]),
        ("monthly", "2026-01-30", ["2026-02-28", "2026-03-30", "2026-04-30", "2026-05-30"]),
        ("monthly", "2026-01-29", ["2026-02-28", "2026-03-29", "2026-04-29"]),
        ("yearly", "2028-02-29", ["2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"]),
        ("yearly", "2026-02-28", ["2027-02-28", "2028-02-28"]),
        ("weekdays", "2026-10-09", ["2026-10-12", "2026-10-13"]),
    ],
)
def test_the_day_survives_being_done_each_time(recurring: str, first: str, days: list[str]) -> None:
    """Although each time only the file is left, a short month does not change which day is meant."""
    assert done_every_time(first, recurring, len(days)) == days


@pytest.mark.parametrize(
    ("first", "recurring", "local", "following"),
    [
        ("2026-10-08", "daily", "2026-10-11 09:00", "2026-10-12"),  # three days overdue: all of them are done
        ("2026-10-05", "weekly", "2026-10-14 09:00", "2026-10-19"),
        ("2026-10-12", "weekly", "2026-10-12 00:00", "2026-10-19"),
        ("2026-10-20", "weekly", "2026-10-14 09:00", "2026-10-27"),  # done before its day
        ("2026-10-10 22:30", "daily", "2026-10-11 09:00", "2026-10-11 22:30:00"),  # tonight's is not done yet
        ("2026-10-11 22:30", "daily", "2026-10-11 09:00", "2026-10-12 22:30:00"),  # tonight's is what is done
    ],
)
def test_done_moves_to_the_next_occurrence(first: str, recurring: str, local: str, following: str) -> None:
    """A recurring notice goes to the first occurrence that is past now and past the one that is done."""
    went = done(notice(fires_on=first, recurring=recurring), local)
    assert went is not None
    assert str(went.fires_on) == following
    assert went.recurs_day is None


def test_what_does_not_recur_is_not_moved() -> None:
    """A notice without `recurring` goes nowhere, and neither does one at the end of the calendar."""
    assert done(notice(fires_on="2026-10-08"), "2026-10-11 09:00") is None
    for recurring in Recurring:
        assert done(notice(fires_on="9999-12-31", recurring=recurring), "2026-10-11 09:00") is None


def test_a_recurrence_without_a_day_counts_from_its_creation() -> None:
    """Without `fires_on` the first occurrence is the day it was created, or today, never a day ahead."""
    now = at("2026-10-14 09:00", "Europe/Prague")
    for created, due in [("2026-10-08 23:30", 8), ("2026-10-20", 14), (None, 14)]:
        assert first_due(notice(recurring="daily", created=created), now, PRAGUE) == date(2026, 10, due)


def test_a_kept_day_counts_only_where_it_fits() -> None:
    """A day kept in the file means nothing once a person has written another `fires_on`, nor if it is no day."""
    for kept, day in [(30, 30), (31, 31), (27, 31), (32, 31), ("30", 31), (None, 31), (True, 31)]:
        assert anchor_day(date(2026, 2, 28), Recurring.MONTHLY, kept) == day
    assert anchor_day(date(2026, 2, 15), Recurring.MONTHLY, 30) == 15


@given(
    st.dates() | st.datetimes(),
    st.sampled_from(Recurring),
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),  # noqa: DTZ001  # the zone is put on below
    st.sampled_from(ZONES),
)
def test_the_next_occurrence_is_the_first_one_later(
    first: When, recurring: Recurring, after: datetime, name: str
) -> None:
    """From any first day the next occurrence is later than the moment, and the one before it is not."""
    zone = ZoneInfo(name)
    moment = after.replace(tzinfo=zone)
    found = next_occurrence(first, recurring, moment, zone)
    if found is None:
        assert first.year > 9990
        return
    assert type(found) is type(first)
    assert begin_of(found, zone) > moment
    if begin_of(first, zone) <= moment:
        span = {Recurring.DAILY: 2, Recurring.WEEKDAYS: 4, Recurring.WEEKLY: 8, Recurring.MONTHLY: 32}.get(
            recurring, 367
        )
        assert local_day(begin_of(found, zone), zone) - local_day(moment, zone) <= timedelta(days=span)
