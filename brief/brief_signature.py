"""Everything that a brief depends on. A cached brief is valid until this changes."""

from __future__ import annotations

from brief.core.model.errors import MajordomusError
from brief.derive.lock_state import read_lock
from brief.notices.read_receipts import receipts_path
from brief.request import RequestContext
from brief.sections.context import SectionContext, SectionQuery, own_episode
from brief.sessions.client_records import SeenSessions
from brief.support.files import stamp_file


def signature_of(request: RequestContext, seen: SeenSessions) -> tuple[object, ...]:
    """All that a brief depends on but checkouts and notices. A cached brief is valid while this stays equal."""
    query, context = request.query, request.context
    observed = stamp_file(f"{context.state_dir}/observation.json")
    return (
        (request.repository, request.notes, query.settings, query.is_policy_unread),
        context.sessions.version,
        context.sessions.loss(),
        context.sessions.missing(),
        seen.signature(),
        _stamp_receipts(context, query),
        observed,
        _derive_lock(context.state_dir),
    )


def _stamp_receipts(context: SectionContext, query: SectionQuery) -> object:
    """A value that changes when the asking session acknowledges a notice; None if that session is unknown."""
    try:
        own = own_episode(context, query) if query.session is None else None
    except MajordomusError:
        return None
    session = own.episode.id if own else query.session
    return stamp_file(receipts_path(context.state_dir, session)) if session else None


def _derive_lock(state_dir: str) -> object:
    """The state of the derive lock, or why it cannot be read. Its section says so."""
    try:
        return read_lock(state_dir)
    except MajordomusError as fault:
        return fault.sentence
