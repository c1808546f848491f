"""How urgent a row is."""

from __future__ import annotations

from enum import StrEnum


class Level(StrEnum):
    """How urgent a row is; it orders and colours, it never reorders sending."""

    CRITICAL = "CRITICAL"
    HIGH = "HIGH"
    NORMAL = "NORMAL"


URGENCY = {Level.CRITICAL: 0, Level.HIGH: 1, Level.NORMAL: 2}
"""The order of the levels, the most urgent first."""
