"""The urgency of a row."""

from __future__ import annotations

from enum import StrEnum


class Level(StrEnum):
    """The urgency of a row. It decides order and colour in a brief, never the order of sending."""

    HIGH = "HIGH"
    NORMAL = "NORMAL"


URGENCY = {Level.HIGH: 0, Level.NORMAL: 1}
"""The sort key of each level; the most urgent comes first."""
