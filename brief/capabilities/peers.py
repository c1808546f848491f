"""Who else is here, and what each says it is about to change."""

from __future__ import annotations

from brief.capabilities.capability import READ_IN_FULL, Capability, Http
from brief.core.model.brief import PeersSection
from brief.handlers import claims, sections

PEERS: tuple[Capability, ...] = (
    Capability(
        id="peers.list",
        kind="query",
        title="List who else is here: the board of every checkout, and the sessions on them",
        input=sections.PeersInputs,
        output=PeersSection,
        handler=sections.list_peers,
        text=sections.section_text,
        http=Http("GET", "/peers"),
        cli=("peers", "list"),
        strict=READ_IN_FULL,
        in_memory=True,
    ),
    Capability(
        id="peers.announce",
        kind="command",
        title="Say what an episode is about to change, and hear who else is about the same paths",
        input=claims.AnnounceInputs,
        output=claims.Announced,
        handler=claims.announce,
        text=claims.announced_text,
        http=Http("POST", "/peers"),
        cli=("peers", "announce"),
    ),
    Capability(
        id="peers.release",
        kind="command",
        title="Release what an episode announced",
        input=claims.ReleaseInputs,
        output=claims.Released,
        handler=claims.release,
        text=claims.released_text,
        http=Http("POST", "/peers/release"),
        cli=("peers", "release"),
    ),
)
