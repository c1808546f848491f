"""The length of a minute of the schedule, which tests shorten."""

from __future__ import annotations

import os
from datetime import timedelta

MINUTE_OF_TESTS = "MAJORDOMUS_TEST_MINUTE_SECONDS"
"""The variable with which a test shortens the minutes of a server that it starts. No policy can set it."""


def one_minute() -> timedelta:
    """A minute of the brief interval and of the heartbeats."""
    return timedelta(seconds=float(os.environ.get(MINUTE_OF_TESTS, "60")))
