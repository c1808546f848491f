"""The context that a session reads, composed alike for every channel: the alerts block, and with it the brief.

Courtesies are marked and the ledger is written once the text was read; expired notices are archived beside it. If one of
these fails or hangs, the session still gets its text.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from brief.core.model.brief import Brief
from brief.core.notices.alerts_block import courtesies_in, render_block, without_seen
from brief.core.notices.notice import Kind
from brief.core.notices.unread import Unread
from brief.core.notices.visibility import Shown
from brief.core.text.brief_digest import digest_facts
from brief.core.text.sanitize import to_wire
from brief.core.wakes.state import Entry, Step, record_brief
from brief.handlers.archiving import archive_expired
from brief.handlers.aside import run_aside
from brief.notices.read_receipts import find_seen, mark_seen
from brief.request import RequestContext
from brief.sections.alerts import read_visibility, without_acknowledged
from brief.sections.context import SectionQuery
from brief.sections.notice_folders import notice_folders
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread
from brief.support.delivery import Note

READ_SECONDS = 1.0
"""How long reading the notices may take: more than any folder needs, and less than a hook has in all."""

Result = TypeVar("Result")
Text = Callable[[Sequence[Shown], Brief, int], str]
"""How a channel combines alerts and brief. The number limits the alerts, in characters."""

log = logging.getLogger(__name__)


class BriefContext(NamedTuple):
    """The text that a session reads, and the brief in it."""

    context: str
    brief: Brief


class UnseenNotices(NamedTuple):
    """The notices that a session has still to read, and what could not be read and may hold locks."""

    shown: list[Shown]
    unread: Unread


async def compose_alerts_context(service: RepositoryService, request: RequestContext, channel: str) -> str:
    """Compose the block of the notices that the session has still to read. Empty if there are none."""
    session, budget = request.query.session, request.query.settings.alerts.block_characters
    async with service.turns.turn(session) as notes:
        shown, unread = await read_unseen(service, request.query)
        context = render_block(shown, budget, unread)
        entry = Entry("injected", channel, size=_count_bytes(context))
        if context:
            notes.extend(_courtesy_notes(service, session, context, shown))
            notes.extend(_ledger_notes(service, session, lambda wake_state: (wake_state, (entry,))))
    return context


async def compose_brief_context(
    service: RepositoryService, request: RequestContext, channel: str, text: Text
) -> BriefContext:
    """Compose the alerts block and the brief. The session is then owed no brief until an interval has passed."""
    query, session = request.query, request.query.session
    async with service.turns.turn(session) as notes:
        (shown, _), kept = await asyncio.gather(
            read_unseen(service, query), service.brief(query.root, session, local=False, hurried=request.hurried)
        )
        brief = kept.value  # the brief itself says what could not be read
        context = text(shown, brief, query.settings.alerts.block_characters)
        notes.extend(_courtesy_notes(service, session, context, shown))
        if session is not None:
            notes.append(lambda: run_aside(in_thread(lambda: service.mark_delivered(session, context))))
        if service.context.absence is None:
            now = service.board.wakes.instant(service.now())
            size, digest = _count_bytes(context), digest_facts(brief)
            notes.extend(
                _ledger_notes(service, session, lambda wake_state: record_brief(wake_state, channel, size, digest, now))
            )
    return BriefContext(context, brief)


async def read_unseen(service: RepositoryService, query: SectionQuery) -> UnseenNotices:
    """The notices that this session has still to read, and those that could not be read."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            visibility = await in_thread(lambda: read_visibility(service.context, query))
            found = await in_thread(lambda: without_acknowledged(service.context, visibility, query.session))
            known = await in_thread(
                lambda: find_seen(service.context.state_dir, query.session, _list_courtesies(found.shown))
            )
    except Exception as fault:  # noqa: BLE001 - whatever it is, the session goes on
        log.warning("no alerts for a session", extra={"reason": repr(fault)})
        folders = notice_folders(service.context.state_dir, query)
        return UnseenNotices(
            [], Unread(folders=tuple((to_wire(folder), "could not be read now") for folder in folders))
        )
    await run_aside(in_thread(lambda: archive_expired(service, query, found)))
    return UnseenNotices(without_seen(found.shown, known), found.unread)


def _ledger_notes(service: RepositoryService, session: str | None, step: Step) -> list[Note]:
    """The ledger entries to write once the session has read its context."""
    if session is None or service.context.absence is not None:
        return []
    return [lambda: run_aside(in_thread(lambda: service.board.wakes.change(session, service.now(), step)))]


def _courtesy_notes(service: RepositoryService, session: str | None, text: str, shown: Sequence[Shown]) -> list[Note]:
    """The courtesies to mark as seen once the session has read them, since each is shown only once."""
    named = courtesies_in(text, shown)
    if session is None or not named:
        return []
    return [lambda: run_aside(in_thread(lambda: mark_seen(service.context.state_dir, session, named)))]


def _count_bytes(context: str) -> int:
    return len(context.encode())


def _list_courtesies(shown: Sequence[Shown]) -> frozenset[str]:
    return frozenset(each.notice.slug for each in shown if each.notice.kind is Kind.COURTESY)
