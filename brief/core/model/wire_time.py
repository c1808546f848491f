"""Moments on the wire."""

from __future__ import annotations

from datetime import UTC, datetime


def wire_time(moment: datetime) -> str:
    """The spelling of a moment on the wire: UTC, whole seconds where it has none smaller, `Z` at the end."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
