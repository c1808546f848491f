"""The sessions in a peers section, and their count as one of them sees it."""

from __future__ import annotations

from brief.core.model.brief import Section
from brief.core.model.section_data import Peer, PeersData


def peers_of(section: Section) -> tuple[Peer, ...]:
    """The sessions that a section lists. Empty for any section but peers."""
    return section.data.peers if isinstance(section.data, PeersData) else ()


def with_one_less(section: Section) -> Section:
    """A peers section composed for everybody, as one of its sessions sees it: the count is one less."""
    data = section.data
    return section.replace(data=data.replace(count=data.count - 1))
