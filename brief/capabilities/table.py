"""The table that declares every capability once. Routes, OpenAPI and commands are generated from it."""

from __future__ import annotations

from brief.capabilities.capability import Capability
from brief.capabilities.episodes import EPISODES
from brief.capabilities.notices import NOTICES
from brief.capabilities.peers import PEERS
from brief.capabilities.tasks import TASKS
from brief.capabilities.views import VIEWS
from brief.capabilities.wakes import WAKES

CAPABILITIES: tuple[Capability, ...] = (*VIEWS, *PEERS, *EPISODES, *WAKES, *TASKS, *NOTICES)
"""Every capability, in the order of the help."""

__all__ = ["CAPABILITIES"]
