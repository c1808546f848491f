from __future__ import annotations

from datetime import timedelta

import pytest

from brief.core.policy.settings import keys
from brief.support.schedule_clock import MINUTE_OF_TESTS, one_minute


def test_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute has sixty seconds unless a test says otherwise, which no policy can."""
    assert one_minute() == timedelta(minutes=1)
    monkeypatch.setenv(MINUTE_OF_TESTS, "0.5")
    assert one_minute() == timedelta(seconds=0.5)
    assert not any("minute_seconds" in key for key in keys())
