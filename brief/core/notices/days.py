"""Convert between moments and local days in one time zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from brief.core.notices.notice import When

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)
_MIDDLE_YEAR = 5_000


def begin_of(when: When, zone: ZoneInfo) -> datetime:
    """The moment in UTC at which `when` begins, clamped between EARLIEST and LATEST. A day begins at its midnight.

    In an hour that the clocks repeat (DST fold), the first one counts. A time that they skip (DST gap) keeps the offset from
    before the change, so a day whose midnight is skipped begins where the clocks jump.
    """
    local = when if isinstance(when, datetime) else datetime.combine(when, time.min)
    try:
        return (local if local.tzinfo else local.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        return EARLIEST if local.year < _MIDDLE_YEAR else LATEST


def local_day(moment: datetime, zone: ZoneInfo) -> date:
    """The local day of an aware moment in the zone."""
    try:
        return moment.astimezone(zone).date()
    except OverflowError:
        return moment.date()


def spell_when(when: When) -> str:
    """`when` as people read it: YYYY-MM-DD, of a moment with HH:MM behind it."""
    return when.isoformat(" ", "minutes") if isinstance(when, datetime) else when.isoformat()


def until(when: When, now: datetime, zone: ZoneInfo) -> str:
    """Until when something holds: `until 23:31` below a day, else the local day."""
    ends = begin_of(when, zone)
    if timedelta(0) <= ends - now < timedelta(days=1):
        return f"until {ends.astimezone(zone):%H:%M}"
    return f"until {local_day(ends, zone).isoformat()}"
