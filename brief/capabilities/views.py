"""The brief, and the two sections about the repository as a whole: integration and derive."""

from __future__ import annotations

from brief.capabilities.capability import READ_IN_FULL, Capability, Http
from brief.core.model.answers import Rendered
from brief.core.model.brief import Brief, DeriveSection, IntegrationSection
from brief.handlers import briefs, queue, sections

VIEWS: tuple[Capability, ...] = (
    Capability(
        id="brief.session",
        kind="query",
        title="Print what a session needs to know about this repository; each section says whether it was really read",
        input=briefs.BriefInputs,
        output=Rendered,
        handler=briefs.brief_session,
        text=briefs.brief_text,
        http=Http("GET", "/brief"),
        cli=("brief",),
        strict=READ_IN_FULL,
        document=Brief,
    ),
    Capability(
        id="integration.queue",
        kind="query",
        title="Show the branches that wait to be merged, as they were last read",
        input=sections.SectionInputs,
        output=IntegrationSection,
        handler=sections.section_of("integration"),
        text=sections.section_text,
        http=Http("GET", "/queue"),
        cli=("queue", "show"),
        strict=READ_IN_FULL,
    ),
    Capability(
        id="integration.queue.refresh",
        kind="command",
        title="Read the branches that wait to be merged again; this fetches nothing and changes nothing in git",
        input=queue.RefreshInputs,
        output=IntegrationSection,
        handler=queue.refresh_queue,
        text=sections.section_text,
        http=Http("POST", "/queue"),
        cli=("queue", "refresh"),
    ),
    Capability(
        id="derive.lock",
        kind="query",
        title="Show whether the derive lock is free, or who holds it",
        input=sections.SectionInputs,
        output=DeriveSection,
        handler=sections.section_of("derive"),
        text=sections.section_text,
        http=Http("GET", "/derive"),
        cli=("derive", "status"),
        strict=READ_IN_FULL,
    ),
)
