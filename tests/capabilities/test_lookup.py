from __future__ import annotations

from brief.capabilities.lookup import find_capability
from brief.capabilities.table import CAPABILITIES


def test_every_capability_is_found() -> None:
    """The id of each capability leads to it."""
    assert [find_capability(one.id) for one in CAPABILITIES] == list(CAPABILITIES)
