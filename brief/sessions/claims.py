"""Claims as rows. Apart from their end with their episode, no other module knows their SQL."""

from __future__ import annotations

import json

from brief.core.model.errors import ConflictError
from brief.core.model.wire import from_plain
from brief.core.model.wire_time import wire_time
from brief.core.sessions.claims import MOST_CLAIMS, Claim
from brief.sessions.database import Database

_CLAIM = "episode, name, intent, scope, since"


def put_claim(database: Database, claim: Claim) -> None:
    """Store a claim, replacing the one of its episode with the same name. Raises ConflictError if there are too many."""
    scope = json.dumps(claim.scope, ensure_ascii=False)
    values = (claim.episode, claim.name, claim.intent, scope, wire_time(claim.since))
    with database.write() as connection:
        connection.execute(f"INSERT OR REPLACE INTO claims ({_CLAIM}) VALUES (?, ?, ?, ?, ?)", values)
        held = connection.execute("SELECT count(*) FROM claims WHERE episode = ?", (claim.episode,)).fetchone()[0]
        if held > MOST_CLAIMS:
            raise ConflictError(
                f"episode {claim.episode} holds {MOST_CLAIMS} claims already; release one with majordomus peers release NAME"
            )


def drop_claims(database: Database, episode_id: str, names: tuple[str, ...]) -> None:
    """Delete claims of an episode, by name."""
    with database.write() as connection:
        connection.executemany(
            "DELETE FROM claims WHERE episode = ? AND name = ?", [(episode_id, name) for name in names]
        )


def held_claims(database: Database) -> tuple[Claim, ...]:
    """The claims of every open episode, oldest first."""
    with database.read() as connection:
        rows = connection.execute(
            f"SELECT {', '.join('claims.' + name for name in _CLAIM.split(', '))} FROM claims "
            "JOIN episodes ON episodes.id = claims.episode WHERE episodes.closed IS NULL "
            "ORDER BY claims.since, claims.episode, claims.name"
        ).fetchall()
    fields = _CLAIM.split(", ")
    named = (dict(zip(fields, row, strict=True)) for row in rows)
    return tuple(from_plain(Claim, {**each, "scope": json.loads(each["scope"])}) for each in named)
