"""How long a minute of the schedule is: as long as any other, but for a test, which cannot wait for real ones."""

from __future__ import annotations

import os
from datetime import timedelta

MINUTE_OF_TESTS = "MAJORDOMUS_TEST_MINUTE_SECONDS"
"""The variable by which a test shortens the minutes of a server it starts; no policy reaches it."""


def minute() -> timedelta:
    """A minute of the interval and of the looks."""
    return timedelta(seconds=float(os.environ.get(MINUTE_OF_TESTS, "60")))
