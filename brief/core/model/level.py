"""How urgent a row is."""

from __future__ import annotations

from enum import StrEnum


class Level(StrEnum):
    """How urgent a row is; it orders and colours, it never reorders sending."""

    HIGH = "HIGH"
    NORMAL = "NORMAL"


URGENCY = {Level.HIGH: 0, Level.NORMAL: 1}
"""The order of the levels, the most urgent first."""
