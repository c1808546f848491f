"""The sessions that a section of peers tells, and their count for one of them."""

from __future__ import annotations

from brief.core.model.brief import Peer, PeersData, Section


def peers_of(section: Section) -> tuple[Peer, ...]:
    """The sessions that a section tells, of which only this one does."""
    return section.data.peers if isinstance(section.data, PeersData) else ()


def with_one_less(section: Section) -> Section:
    """The section of one who asked for everybody, for a session that is told in it: its count is one less."""
    data = section.data
    return section.model_copy(update={"data": data.model_copy(update={"count": data.count - 1})})
