"""Local days and moments: when a day or a moment of a notice begins, and which day a moment is, in one zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from brief.core.notices.notice import When

EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)
_MIDDLE_YEAR = 5_000


def instant(when: When, zone: ZoneInfo) -> datetime:
    """The moment in UTC at which `when` begins, held between EARLIEST and LATEST; a day begins at its midnight.

    Of an hour that the clocks repeat the first is meant. A time that they skip counts as late as it would have been
    without the change, so that a day whose midnight is skipped begins where the clocks jump.
    """
    local = when if isinstance(when, datetime) else datetime.combine(when, time.min)
    try:
        return (local if local.tzinfo else local.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        return EARLIEST if local.year < _MIDDLE_YEAR else LATEST


def local_day(moment: datetime, zone: ZoneInfo) -> date:
    """The day that an aware moment falls on in the zone."""
    try:
        return moment.astimezone(zone).date()
    except OverflowError:
        return moment.date()


def spell_when(when: When) -> str:
    """`when` as people read it: YYYY-MM-DD, of a moment with HH:MM behind it."""
    return when.isoformat(" ", "minutes") if isinstance(when, datetime) else when.isoformat()
