"""One section of a brief, asked for alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from brief.answering.shape import SessionInputs
from brief.core.model import Section
from brief.core.text.page import section_page
from brief.desk import Desk


class SectionInputs(SessionInputs):
    """Which checkout, and which episode asks."""


def section_of(name: str) -> Callable[[Desk, SectionInputs], Awaitable[Section]]:
    """The handler that asks the owner of the section `name`."""

    async def handler(desk: Desk, asked: SectionInputs) -> Section:
        return await desk.section(name, asked.root, asked.session)

    return handler


def section_text(section: Section) -> str:
    """The section with every row it has."""
    return section_page(section)
