"""Finds one capability by its id, loading only the module that declares it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brief.capabilities.capability import Capability

_MODULES = {
    **dict.fromkeys(("brief", "derive", "integration"), "views"),
    **dict.fromkeys(("hooks", "lifecycle"), "episodes"),
    "continuity": "tasks",
    "peers": "peers",
    "wakes": "wakes",
    **dict.fromkeys(("alerts", "lock"), "notices"),
}
"""The module that declares a capability, by the first word of its id."""


def find_capability(identity: str) -> Capability:
    """Return the capability with this id; the id must be in the table."""
    name = _MODULES[identity.partition(".")[0]]
    declared: tuple[Capability, ...] = getattr(import_module(f"brief.capabilities.{name}"), name.upper())
    return next(one for one in declared if one.id == identity)
