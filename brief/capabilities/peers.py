"""Peers: who else works in the repository, and what each session announced that it will change."""

from __future__ import annotations

from brief.capabilities.capability import READ_IN_FULL, Capability, Http
from brief.core.model.brief import PeersSection
from brief.handlers import claims, sections

PEERS: tuple[Capability, ...] = (
    Capability(
        id="peers.list",
        kind="query",
        title="List the board of every checkout, with the sessions on it",
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
        title="Announce what an episode is about to change, and show who else works on the same paths",
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
        title="Withdraw what an episode announced",
        input=claims.ReleaseInputs,
        output=claims.Released,
        handler=claims.release,
        text=claims.released_text,
        http=Http("POST", "/peers/release"),
        cli=("peers", "release"),
    ),
)
