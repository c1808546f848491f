"""A single section of a brief."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import Meta

from brief.core.model.brief import Section
from brief.core.text.page import section_page
from brief.handlers.inputs import SessionInputs
from brief.service import RepositoryService


class SectionInputs(SessionInputs, frozen=True, kw_only=True):
    """The checkout and the episode of the caller."""


class PeersInputs(SectionInputs, frozen=True, kw_only=True):
    """The caller, and whether other servers are asked too."""

    local: Annotated[bool, Meta(description="list the boards of this server alone, including the caller's own")] = False


async def list_peers(service: RepositoryService, inputs: PeersInputs) -> Section:
    """List the peers."""
    return await service.section("peers", inputs.root, inputs.session, local=inputs.local)


def section_of(name: str) -> Callable[[RepositoryService, SectionInputs], Awaitable[Section]]:
    """The handler that reads the section `name`."""

    async def handler(service: RepositoryService, inputs: SectionInputs) -> Section:
        return await service.section(name, inputs.root, inputs.session)

    return handler


def section_text(section: Section) -> str:
    """The section with all its rows."""
    return section_page(section)
