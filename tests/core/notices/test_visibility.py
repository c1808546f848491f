from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.notices.notice import Kind, Recurring, Severity
from brief.core.notices.visibility import Expired, Hidden, Shown, decide_visibility, is_held, order_shown
from brief.core.sessions.life import Life
from notice_helpers import SESSION, ZONES, at, countdown, judged, notice, shown

everywhere = pytest.mark.parametrize("zone", ZONES)


@everywhere
def test_t1_expires_in_the_past_is_archived(zone: str) -> None:
    """T1: a notice whose `expires` has come is expired from the first moment of that day on, and not before."""
    made = notice(expires="2026-10-10")
    assert judged(made, "2026-10-10 00:00", zone) == Expired(made, "it expired on 2026-10-10")
    assert isinstance(judged(made, "2026-10-09 23:59:59.999999", zone), Shown)


@everywhere
def test_t2_fires_on_ahead_is_hidden_until_its_day(zone: str) -> None:
    """T2: before the day of `fires_on` a notice is hidden, on the day and ever after it is shown."""
    made = notice(kind="reminder", fires_on="2026-10-12")
    assert judged(made, "2026-10-11 23:59:59.999999", zone) == Hidden(made, "it fires on 2026-10-12", 1)
    assert countdown(made, "2026-10-12 00:00", zone) == "🔔 TODAY"
    assert countdown(made, "2026-10-12 23:59", zone) == "🔔 TODAY"
    assert countdown(made, "2026-10-13 00:00", zone) == "🔔 [OVERDUE 1d]"
    assert countdown(made, "2027-10-12 09:00", zone) == "🔔 [OVERDUE 365d]"


@everywhere
def test_t3_higher_priority_comes_first(zone: str) -> None:
    """T3: priority goes before urgency, urgency before the slug, and what has no date is least urgent."""
    made = [
        notice("a-low", priority=1, fires_on="2026-10-01"),
        notice("b", created="2026-10-11"),
        notice("a", created="2026-10-11"),
        notice("week", expires="2026-10-19"),
        notice("today", fires_on="2026-10-11"),
        notice("last-day", expires="2026-10-12"),
        notice("overdue", fires_on="2026-10-09"),
        notice("longer-overdue", fires_on="2026-10-08", expires="2026-10-30"),
        notice("z-high", priority=10),
    ]
    order = [each.notice.slug for each in shown(*made, zone=zone)]
    assert order == ["z-high", "longer-overdue", "overdue", "last-day", "today", "week", "a", "b", "a-low"]


@everywhere
def test_t4_done_is_never_shown(zone: str) -> None:
    """T4: what is done is hidden, whatever its dates say."""
    for fields in ({}, {"fires_on": "2026-10-11"}, {"expires": "2026-10-01"}, {"kind": "lock"}, {"recurring": "daily"}):
        made = notice(status="done", **fields)
        assert judged(made, "2026-10-11 09:00", zone) == Hidden(made, "it is done")


@everywhere
@pytest.mark.parametrize(("severity", "days"), [("low", 3), ("normal", 7), ("high", 999)])
def test_t5_without_dates_a_notice_ages(zone: str, severity: str, days: int) -> None:
    """T5: without dates a notice is shown for the days of its severity, counted in local days, and then archived."""
    created = at("2026-10-11 23:30", zone)
    made = notice(severity=severity, created=created.isoformat(" "))
    last_day = datetime.fromisoformat("2026-10-11") + timedelta(days=days)
    assert countdown(made, last_day.strftime("%Y-%m-%d 23:59"), zone) is None
    verdict = judged(made, f"{last_day + timedelta(days=1):%Y-%m-%d} 00:00", zone)
    assert verdict == Expired(made, f"it is {days + 1} days old; severity {severity} is shown for {days} days")


@everywhere
def test_t5_with_a_date_age_does_not_matter(zone: str) -> None:
    """T5: low severity and four days old is not shown; with `fires_on` today, or any other date, it is."""
    old: dict[str, object] = {"severity": "low", "created": "2026-10-07"}
    assert isinstance(judged(notice(**old), "2026-10-11 09:00", zone), Expired)
    old["created"] = "2020-01-01"
    assert countdown(notice(**old, fires_on="2026-10-11"), "2026-10-11 09:00", zone) == "🔔 TODAY"
    assert countdown(notice(**old, expires="2026-10-14"), "2026-10-11 09:00", zone) == "⏳ 2d left"
    assert isinstance(judged(notice(**old, recurring="weekly"), "2026-10-11 09:00", zone), Shown)


@everywhere
def test_without_created_age_is_unknown_and_it_is_shown(zone: str) -> None:
    """Nobody knows how old a notice without `created` is, and one from the future is not old."""
    assert countdown(notice(severity="low"), "2026-10-11 09:00", zone) is None
    assert countdown(notice(severity="low", created="2026-12-01"), "2026-10-11 09:00", zone) is None


@everywhere
def test_t7_a_daily_reminder_tells_how_long_it_is_overdue(zone: str) -> None:
    """T7: overdue is counted from the first occurrence that is not done, over a clock change too."""
    made = notice(kind="reminder", fires_on="2026-10-23", recurring="daily", created="2026-10-01")
    assert isinstance(judged(made, "2026-10-22 23:59", zone), Hidden)
    assert countdown(made, "2026-10-23 09:00", zone) == "🔔 TODAY"
    assert countdown(made, "2026-10-26 00:00", zone) == "🔔 [OVERDUE 3d]"


@everywhere
def test_a_weekday_reminder_waits_for_monday(zone: str) -> None:
    """What recurs on weekdays from a Saturday on is not due before Monday, and overdue from then."""
    made = notice(fires_on="2026-10-10", recurring="weekdays")
    assert judged(made, "2026-10-11 23:59", zone) == Hidden(made, "it fires on 2026-10-12", 1)
    assert countdown(made, "2026-10-12 00:00", zone) == "🔔 TODAY"
    assert countdown(made, "2026-10-13 00:00", zone) == "🔔 [OVERDUE 1d]"


@everywhere
def test_t8_a_bug_dep_is_shown_until_it_is_done(zone: str) -> None:
    """T8: an active bug-dep is shown, a done one is not."""
    fields = {"kind": "bug-dep", "component": "koda", "ticket": "KODA-12", "created": "2026-10-11"}
    assert isinstance(judged(notice(**fields), "2026-10-11 09:00", zone), Shown)
    assert isinstance(judged(notice(**fields, status="done"), "2026-10-11 09:00", zone), Hidden)


@everywhere
def test_the_countdown_ends_on_the_last_valid_day(zone: str) -> None:
    """`expires` is exclusive: the day before it is the last, and the days left are counted to that one."""
    made = notice(expires="2026-10-14")
    assert countdown(made, "2026-10-11 00:00", zone) == "⏳ 2d left"
    assert countdown(made, "2026-10-12 23:59", zone) == "⏳ 1d left"
    assert countdown(made, "2026-10-13 00:00", zone) == "⚠️ EXPIRES TODAY"
    assert countdown(notice(expires="2026-10-14 00:01"), "2026-10-13 09:00", zone) == "⏳ 1d left"


@everywhere
def test_an_evening_is_long_enough(zone: str) -> None:
    """`fires_on` 22:30 with `expires` 23:00 is shown for exactly that half hour."""
    made = notice(fires_on="2026-10-11 22:30", expires="2026-10-11 23:00")
    assert judged(made, "2026-10-11 22:29:59", zone) == Hidden(made, "it fires on 2026-10-11 22:30", 0)
    for minute in ("22:30", "22:59:59"):
        assert countdown(made, f"2026-10-11 {minute}", zone) == "🔔 TODAY ⚠️ EXPIRES TODAY"
    assert judged(made, "2026-10-11 23:00", zone) == Expired(made, "it expired on 2026-10-11 23:00")


def test_a_day_is_the_day_of_the_zone() -> None:
    """`expires: 2026-02-28` ends in New York at New York's midnight, when it is long past in Auckland."""
    made = notice(expires="2026-02-28")
    assert countdown(made, "2026-02-27 23:59", "America/New_York") == "⚠️ EXPIRES TODAY"
    assert isinstance(judged(made, "2026-02-28 00:00", "America/New_York"), Expired)
    now = at("2026-02-27 23:59", "America/New_York")
    verdicts = [type(decide_visibility(made, now, ZoneInfo(zone))) for zone in ZONES]
    assert verdicts == [Expired, Expired, Shown, Expired]


@everywhere
@pytest.mark.parametrize("hours", range(-30, 31, 5))
def test_every_hour_around_midnight_agrees_with_the_clocks(zone: str, hours: int) -> None:
    """At each of many moments around the day, shown means exactly that the zone's clocks show that day."""
    made = notice(fires_on="2026-03-29", expires="2026-03-30")
    now = datetime(2026, 3, 29, 12, tzinfo=UTC) + timedelta(hours=hours)
    on_the_day = now.astimezone(ZoneInfo(zone)).date().isoformat() == "2026-03-29"
    assert isinstance(decide_visibility(made, now, ZoneInfo(zone)), Shown) is on_the_day


@everywhere
def test_fires_on_goes_before_expires(zone: str) -> None:
    """A notice that both is ahead and has expired is hidden, as the rules are in that order."""
    made = notice(fires_on="2026-10-20", expires="2026-10-01")
    assert isinstance(judged(made, "2026-10-11 09:00", zone), Hidden)


@everywhere
def test_a_lock_ages_only_once_its_owner_is_gone(zone: str) -> None:
    """A lock whose owner lives, or may live, never grows too old; `expires` ends it all the same."""
    made = notice(kind="lock", session_id=SESSION, created="2026-10-01")
    for owner in (Life.ALIVE, Life.UNKNOWN):
        verdict = judged(made, "2026-10-11 09:00", zone, owner)
        assert isinstance(verdict, Shown)
        assert verdict.lock_owner is owner
    assert isinstance(judged(made, "2026-10-11 09:00", zone, Life.GONE), Expired)
    assert isinstance(judged(made, "2026-10-08 23:59", zone, Life.GONE), Shown)
    held = notice(kind="lock", session_id=SESSION, expires="2026-10-11 08:00")
    assert isinstance(judged(held, "2026-10-11 09:00", zone, Life.ALIVE), Expired)


def test_only_a_lock_has_an_owner() -> None:
    """What is said about an owner does not age or mark any other notice."""
    verdict = judged(notice(kind="alert"), "2026-10-11 09:00", "UTC", Life.GONE)
    assert isinstance(verdict, Shown)
    assert verdict.lock_owner is None


_WHENS = (
    st.none()
    | st.dates().map(str)
    | st.datetimes().map(lambda moment: moment.isoformat(" "))
    | st.sampled_from(["0001-01-01", "9999-12-31", "9999-12-31 23:59:59.999999", "0001-01-01 00:00:00.000001"])
)
_NOTICES = st.builds(
    notice,
    kind=st.sampled_from(Kind),
    severity=st.sampled_from(Severity),
    recurring=st.none() | st.sampled_from(Recurring),
    created=_WHENS,
    expires=_WHENS,
    fires_on=_WHENS,
)
_MOMENTS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone


@given(_NOTICES, _MOMENTS, st.sampled_from(ZONES), st.sampled_from(Life))
def test_every_notice_has_a_verdict(made: object, now: datetime, zone: str, owner: Life) -> None:
    """Whatever the dates, there is a verdict with a reason or with a countdown that agrees with its urgency."""
    verdict = decide_visibility(made, now, ZoneInfo(zone), owner)  # type: ignore[arg-type]  # hypothesis builds a Notice
    if isinstance(verdict, Shown):
        assert (verdict.countdown is None) is (verdict.urgency is None)
        assert order_shown(verdict)
    else:
        assert verdict.reason


@everywhere
def test_a_lock_stands_for_as_long_as_it_is_shown(zone: str) -> None:
    """Until it is done, over, or so old that an owner known to be gone no longer counts; nothing else is a lock."""
    now, days = at("2026-10-11 09:00", zone), ZoneInfo(zone)
    old = notice(kind="lock", created="2026-09-01")
    assert is_held(old, now, days)
    assert not is_held(old, now, days, Life.GONE)
    assert is_held(notice(kind="lock", expires="2026-10-12"), now, days)
    for other in ({"expires": "2026-10-11"}, {"fires_on": "2026-10-12"}, {"status": "done"}, {"kind": "alert"}):
        assert not is_held(notice(**{"kind": "lock", **other}), now, days)


def test_what_is_to_come_says_in_how_many_days() -> None:
    """Counted in local days; what comes on the same day says so."""
    made = notice(fires_on="2026-10-16 08:00")
    told = [
        judged(made, moment, "Europe/Prague") for moment in ("2026-10-11 23:59", "2026-10-15 00:00", "2026-10-16 07:59")
    ]
    assert [each.countdown for each in told if isinstance(each, Hidden)] == ["🔔 in 5d", "🔔 in 1d", "🔔 later today"]


def test_locks_come_before_all_else() -> None:
    """Whatever its priority, a lock comes before every other notice."""
    made = [notice("a", kind="alert", priority=10), notice("b", kind="lock", priority=0), notice("c", kind="lock")]
    assert [each.notice.slug for each in shown(*made)] == ["c", "b", "a"]
