"""The outbox of a session: the prompt that waits in it, handed out once, to a session that may be given it now."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from brief.core.model.brief import EpisodeState
from brief.core.model.wire import Wire
from brief.core.wakes.rules import Instant, Rules, WakeStatus, may_be_handed_out, remaining, wake_status
from brief.core.wakes.state import Change, Outcome, Prompt, WakeState, offered, recomposed, tidied, told_outcome
from brief.handlers.aside import aside
from brief.handlers.waking import composed_wake
from brief.request import RequestContext
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread
from brief.support.delivery import if_unread

log = logging.getLogger(__name__)

FRESH_FOR = timedelta(minutes=2)
"""A prompt that was composed longer ago is composed anew before it is handed out."""


class PromptToSubmit(Wire):
    """A prompt that a mod submits now, and whose outcome it then tells."""

    id: str
    text: str


async def handed_out(
    service: RepositoryService, here: RequestContext, rules: Rules, state: EpisodeState, *, draft: bool
) -> tuple[WakeState, PromptToSubmit | None]:
    """The prompt that the session of a heartbeat submits now, if one waits and it may, given its `state`.

    What may not wait any longer is withdrawn.
    """
    session, wakes = here.query.session or "", service.board.wakes

    def tidy(waking: WakeState) -> Change:
        return tidied(waking, rules, wakes.instant(service.now()), is_idle=state is EpisodeState.IDLE)

    waking, _ = await in_thread(lambda: wakes.change(session, service.now(), tidy))
    waits = waking.prompt is not None and waking.prompt.offered is None
    if waking.prompt is None or not waits or not may_be_handed_out(state, draft=draft):
        return waking, None
    is_old = not waking.prompt.text or abs(service.now() - waking.prompt.composed) > FRESH_FOR
    try:
        fresh = await composed_wake(service, here) if is_old else waking.prompt
    except Exception as fault:  # noqa: BLE001 - whatever it is, the heartbeat has its line, and the prompt waits on
        log.warning("a wake could not be written", extra={"episode": session, "reason": repr(fault)})
        return waking, None
    waking, taken = await in_thread(lambda: _taken(service, session, fresh))
    if taken is not None:
        # It waits again where it is proven that the client never had it.
        if_unread(lambda: aside(in_thread(lambda: concluded(service, session, taken.id, "held"))))
    return waking, taken


def _taken(service: RepositoryService, session: str, fresh: Prompt) -> tuple[WakeState, PromptToSubmit | None]:
    """The prompt that waits, as it says now; None where another heartbeat has taken it, or it was withdrawn meanwhile."""
    taken: list[Prompt] = []

    def take(waking: WakeState) -> Change:
        after, _ = recomposed(waking, fresh)
        if after.prompt is not None and after.prompt.offered is None:
            taken.append(after.prompt)
        return offered(after, service.now())

    waking, _ = service.board.wakes.change(session, service.now(), take)
    return waking, PromptToSubmit(id=taken[0].id, text=taken[0].text) if taken else None


def due_at(waking: WakeState, rules: Rules, now: Instant) -> datetime | None:
    """When a wake of the session is due; None where none will be, as long as nothing changes."""
    if wake_status(waking.cadence, rules) is not WakeStatus.ON:
        return None
    return waking.prompt.composed if waking.prompt else now.wall + remaining(waking.anchor, rules.interval, now)


def concluded(service: RepositoryService, session: str, prompt_id: str | None, outcome: Outcome) -> Change:
    """Note what became of a prompt that a client has, whichever it is where `prompt_id` is None.

    What was submitted tells the session what it was owed. Blocks on the database.
    """
    delivered: list[Prompt] = []

    def tell(waking: WakeState) -> Change:
        named = prompt_id or (waking.prompt.id if waking.prompt else "")
        after, entries = told_outcome(waking, named, outcome, service.board.wakes.instant(service.now()))
        if entries and outcome == "submitted" and waking.prompt is not None:
            delivered.append(waking.prompt)
        return after, entries

    change = service.board.wakes.change(session, service.now(), tell)
    for prompt in delivered:
        service.mark_delivered(session, prompt.text)
    return change
