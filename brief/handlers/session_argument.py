"""The session that a call names, which may be abbreviated to the letters that lists show."""

from __future__ import annotations

from msgspec.structs import replace

from brief.core.text.abbreviation import whole_name
from brief.handlers.inputs import Input
from brief.service import RepositoryService

LEAST_LETTERS = 6
"""The fewest letters that may stand for an episode id."""


def with_whole_session(service: RepositoryService, inputs: Input) -> Input:
    """The input with the id of the open episode that its session begins, or unchanged. Raises UsageError if two do."""
    session: str | None = getattr(inputs, "session", None)
    sessions = service.context.sessions
    if session is None or not inputs.may_abbreviate_session or sessions.find_open(session) is not None:
        return inputs
    whole = whole_name(session, (one.episode.id for one in sessions.open_episodes()), LEAST_LETTERS, "open episodes")
    return inputs if whole == session else replace(inputs, session=whole)
