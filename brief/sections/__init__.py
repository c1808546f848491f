"""The owners: one file a section, each answering from what it is given, each saying whether it was really read."""

from __future__ import annotations

from brief.sections import alerts, derive, integration, mesh, peers, state
from brief.sections.context import Answer

READERS: dict[str, Answer] = {
    "state": state.answer,
    "peers": peers.answer,
    "mesh": mesh.answer,
    "integration": integration.answer,
    "derive": derive.answer,
    "alerts": alerts.answer,
}
"""Who answers for which section, in the order of every brief."""
