"""Which episode a command is about."""

from __future__ import annotations

from brief.core.model.errors import UsageError
from brief.core.text.sanitize import clean
from brief.sections.context import SectionContext, SectionQuery, own_episode

_MOST_NAMED = 5
"""The most candidate episodes that an error names."""


def find_meant(context: SectionContext, query: SectionQuery) -> str:
    """The id of the episode that a command is about. Raises UsageError if that is not clear."""
    if query.session is not None:
        return query.session
    own = own_episode(context, query)
    if own is not None:
        return own.episode.id
    here = context.sessions.open_ids_at(query.checkout)
    where = f"in {clean(query.checkout)}; say which one is meant with --session ID or CLAUDE_CODE_SESSION_ID"
    if here:
        named = ", ".join(here[:_MOST_NAMED]) + (" ..." if len(here) > _MOST_NAMED else "")
        raise UsageError(f"{len(here)} episodes are open {where}: {named}")
    raise UsageError(f"no episode is open {where}, or open one with majordomus episode open")
