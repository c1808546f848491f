from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from brief.support.served import Served

NOW = datetime(2026, 10, 11, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(("seconds", "lately"), [(0, True), (119, True), (120, False), (-119, True), (-120, False)])
def test_two_minutes(seconds: int, lately: bool) -> None:
    """A session counts as served for two minutes, also for a clock that was set back meanwhile."""
    served = Served()
    served.note("ann", NOW)
    assert served.lately("ann", NOW + timedelta(seconds=seconds)) == lately
    assert not served.lately("bob", NOW)


def test_last_time_counts() -> None:
    """A session that is served again is served for two minutes from then on."""
    served = Served()
    for minutes in (0, 1, 2):
        served.note("ann", NOW + timedelta(minutes=minutes))
    assert served.lately("ann", NOW + timedelta(minutes=3, seconds=59))


def test_nothing_is_kept_for_ever() -> None:
    """Only those are remembered who were served within two minutes."""
    served = Served()
    for minute in range(100):
        served.note(f"session-{minute}", NOW + timedelta(minutes=minute))
    assert set(served._at) == {"session-98", "session-99"}
