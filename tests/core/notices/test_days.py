from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.notices.days import EARLIEST, LATEST, begin_of, local_day, until
from brief.core.notices.notice import When
from notice_helpers import ZONES

EVERY_ZONE = (*ZONES, "America/Sao_Paulo", "America/Havana", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu")


@pytest.mark.parametrize(
    ("day", "zone", "begins"),
    [
        ("2026-10-11", "UTC", "2026-10-11 00:00"),
        ("2026-10-11", "Pacific/Auckland", "2026-10-10 11:00"),
        ("2026-10-11", "Europe/Prague", "2026-10-10 22:00"),
        ("2026-10-11", "America/New_York", "2026-10-11 04:00"),
        ("2018-11-04", "America/Sao_Paulo", "2018-11-04 03:00"),  # midnight is skipped: the day begins at 01:00
        ("2011-12-30", "Pacific/Apia", "2011-12-30 10:00"),  # the whole day is skipped
        ("2026-11-01", "America/Havana", "2026-11-01 04:00"),  # midnight comes twice
        (
            "2010-11-07",
            "America/St_Johns",
            "2010-11-07 02:30",
        ),  # a minute into the day the clocks go back into the last
    ],
)
def test_a_day_begins_at_its_first_midnight(day: str, zone: str, begins: str) -> None:
    """The day begins when the zone's clocks first show it, also where midnight is skipped or comes twice."""
    moment = begin_of(date.fromisoformat(day), ZoneInfo(zone))
    assert moment == datetime.fromisoformat(begins).replace(tzinfo=UTC)


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-10-26", 24)])
def test_a_day_has_the_hours_it_has(day: str, hours: int) -> None:
    """On the days of a clock change a day ends 23 or 25 hours after it begins."""
    prague, begun = ZoneInfo("Europe/Prague"), date.fromisoformat(day)
    assert begin_of(begun + timedelta(days=1), prague) - begin_of(begun, prague) == timedelta(hours=hours)


@pytest.mark.parametrize(
    ("spelled", "moment"),
    [
        ("2026-10-25 02:30", "2026-10-25 00:30"),  # comes twice: the first is meant
        ("2026-03-29 02:30", "2026-03-29 01:30"),  # is skipped: as late as without the change
        ("2026-10-11 22:30", "2026-10-11 20:30"),
        ("2026-10-11 22:30-04:00", "2026-10-12 02:30"),
    ],
)
def test_a_moment_is_local_unless_it_has_an_offset(spelled: str, moment: str) -> None:
    """A moment without an offset is one of the zone's clocks, one with an offset is its own."""
    expected = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    assert begin_of(datetime.fromisoformat(spelled), ZoneInfo("Europe/Prague")) == expected


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("when", [date.min, date.max, datetime.min, datetime.max])  # noqa: DTZ901  # they have no zone
def test_the_ends_of_the_calendar_are_held(when: When, zone: str) -> None:
    """The first and the last day that can be written are moments everywhere, and moments have a day everywhere."""
    assert EARLIEST <= begin_of(when, ZoneInfo(zone)) <= LATEST
    assert local_day(EARLIEST, ZoneInfo(zone)).year == 1
    assert local_day(LATEST, ZoneInfo(zone)).year == 9999


@given(st.dates(date(1970, 1, 2), date(2037, 12, 31)), st.sampled_from(EVERY_ZONE))
def test_nothing_before_its_beginning_is_the_day(day: date, zone: str) -> None:
    """The moment before a day begins belongs to an earlier day, and the beginning to the day, or a later one if skipped."""
    place = ZoneInfo(zone)
    begins = begin_of(day, place)
    assert local_day(begins - timedelta(microseconds=1), place) < day <= local_day(begins, place)


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(1, "until 13:01"), (24 * 60 - 1, "until 12:59"), (24 * 60, "until 2026-03-06"), (-1, "until 2026-03-05")],
)
def test_until_is_a_time_below_a_day(minutes: int, said: str) -> None:
    """In the zone of the person; a moment of another day, or one that is over, is given as its day."""
    now = datetime(2026, 3, 5, 12, tzinfo=UTC)
    assert until(now + timedelta(minutes=minutes), now, ZoneInfo("Europe/Prague")) == said
