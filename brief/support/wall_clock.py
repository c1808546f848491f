"""The wall clock."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """What time it is, in UTC."""
    return datetime.now(UTC)
