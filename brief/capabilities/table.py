"""The one declaration: every capability once. Routes, OpenAPI and commands are made from this table."""

from __future__ import annotations

from brief.capabilities.notices import NOTICES
from brief.capabilities.sessions import SESSIONS
from brief.capabilities.views import VIEWS
from brief.handlers.shape import Capability

CAPABILITIES: tuple[Capability, ...] = (*VIEWS, *SESSIONS, *NOTICES)
"""Every capability, in the order of the help."""

__all__ = ["CAPABILITIES"]
