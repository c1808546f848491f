"""Moments on the wire."""

from __future__ import annotations

from datetime import UTC, datetime


def wire_time(moment: datetime) -> str:
    """A moment as ISO 8601 in UTC, ending in `Z`, with a fraction of a second only if it has one."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
