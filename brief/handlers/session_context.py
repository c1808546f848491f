"""What a session is told by a channel, composed once for all of them: the alerts block, and the brief that goes with it.

Marking courtesies, archiving and the ledger stand beside the text: each may fail or hang without costing it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

from brief.core.model.brief import Brief
from brief.core.notices.alerts_block import block, courtesies_in, without_seen
from brief.core.notices.notice import Kind
from brief.core.notices.visibility import Shown
from brief.core.text.brief_digest import facts
from brief.core.wakes.state import Entry, Step, briefed
from brief.handlers.archiving import archive_expired
from brief.notices.read_receipts import mark_seen, seen
from brief.sections.alerts import judged
from brief.sections.context import SectionQuery
from brief.service import RepositoryService, RequestContext
from brief.support.daemon_threads import in_thread

ASIDE_SECONDS = 0.1
"""How long the text waits for what is done beside it."""

JUDGED_SECONDS = 1.0
"""How long the notices may take: longer than any folder of them needs, and short of what a hook has in all."""

Result = TypeVar("Result")
Text = Callable[[Sequence[Shown], Brief, int], str]
"""How a channel puts alerts and brief together, the alerts in at most so many characters."""

log = logging.getLogger(__name__)


class Briefed(NamedTuple):
    """The text that a session reads, and the brief in it."""

    context: str
    brief: Brief


async def alerts_told(service: RepositoryService, request: RequestContext, channel: str) -> str:
    """The block of what the session has still to read; empty where that is nothing."""
    shown = await shown_to(service, request.query)
    budget = request.query.settings.alerts.block_characters
    context = await _told_once(service, request.query.session, shown, lambda shown: block(shown, budget))
    if context:
        await _noted(
            service, request.query.session, lambda waking: (waking, (Entry("injected", channel, size=_size(context)),))
        )
    return context


async def brief_told(service: RepositoryService, request: RequestContext, channel: str, text: Text) -> Briefed:
    """The block and the brief, after which the session is owed nothing until an interval has gone by."""
    query = request.query
    shown, kept = await asyncio.gather(shown_to(service, query), service.brief(query.root, query.session, local=False))
    brief, session, budget = kept.value, query.session, query.settings.alerts.block_characters
    context = await _told_once(service, session, shown, lambda shown: text(shown, brief, budget))
    if session is not None:
        await aside(in_thread(lambda: service.told(session, context)))
    if service.context.absence is None:
        now = service.board.wakes.instant(service.now())
        await _noted(service, session, lambda waking: briefed(waking, channel, _size(context), facts(brief), now))
    return Briefed(context, brief)


async def shown_to(service: RepositoryService, query: SectionQuery) -> list[Shown]:
    """What this session has still to read of the notices; none where they cannot be read now, since a brief says so."""
    try:
        async with asyncio.timeout(JUDGED_SECONDS):
            found = await in_thread(lambda: judged(service.context, query))
            known = await in_thread(lambda: seen(service.context.state_dir, query.session, _courtesies(found.shown)))
    except Exception as fault:  # noqa: BLE001 - whatever it is, the session goes on
        log.warning("no alerts for a session", extra={"reason": repr(fault)})
        return []
    await aside(in_thread(lambda: archive_expired(service, query, found)))
    return without_seen(found.shown, known)


async def aside(work: Awaitable[Result]) -> Result | None:
    """Do what the text does not depend on: where that fails or takes long, None, and the text comes all the same."""
    try:
        async with asyncio.timeout(ASIDE_SECONDS):
            return await work
    except Exception as fault:  # noqa: BLE001 - whatever it is, the session goes on
        log.warning("not done beside a text", extra={"reason": repr(fault)})
        return None


async def _noted(service: RepositoryService, session: str | None, step: Step) -> None:
    """Note in the ledger of the episode what it was told."""
    if session is not None and service.context.absence is None:
        await aside(in_thread(lambda: service.board.wakes.change(session, service.now(), step)))


def _size(context: str) -> int:
    return len(context.encode())


def _courtesies(shown: Sequence[Shown]) -> frozenset[str]:
    return frozenset(each.notice.slug for each in shown if each.notice.kind is Kind.COURTESY)


async def _told_once(
    service: RepositoryService, session: str | None, shown: list[Shown], text: Callable[[Sequence[Shown]], str]
) -> str:
    """The text, each courtesy in it marked as seen, and without those that another channel has just told."""
    whole = text(shown)
    named = courtesies_in(whole, shown)
    if session is None or not named:
        return whole
    ours = await aside(in_thread(lambda: mark_seen(service.context.state_dir, session, named)))
    return whole if ours is None or ours == named else text(without_seen(shown, named - ours))
