"""The outbox of a session: hand out its waiting prompt once, when the session may take it, and record the outcome."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from brief.core.model.section_data import EpisodeState
from brief.core.model.wire import Wire
from brief.core.wakes.rules import Instant, Rules, WakeStatus, may_be_handed_out, time_left, wake_status
from brief.core.wakes.state import (
    Change,
    Outcome,
    Prompt,
    WakeState,
    offer_prompt,
    recompose_prompt,
    record_outcome,
    tidy_outbox,
)
from brief.handlers.aside import run_aside
from brief.handlers.waking import compose_wake
from brief.request import RequestContext
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread
from brief.support.delivery import if_unread

log = logging.getLogger(__name__)

FRESH_FOR = timedelta(minutes=2)
"""A prompt that is older than this is composed anew before it is handed out."""


class PromptToSubmit(Wire, frozen=True):
    """A prompt that a mod is to submit now, and whose outcome it then reports."""

    id: str
    text: str


async def hand_out_prompt(
    service: RepositoryService, here: RequestContext, rules: Rules, state: EpisodeState, *, draft: bool
) -> tuple[WakeState, PromptToSubmit | None]:
    """Hand out the waiting prompt of a session, if its `state` allows that. An outdated prompt is withdrawn."""
    session, wakes = here.query.session or "", service.board.wakes

    def tidy(wake_state: WakeState) -> Change:
        return tidy_outbox(wake_state, rules, wakes.instant(service.now()), is_idle=state is EpisodeState.IDLE)

    wake_state, _ = await in_thread(lambda: wakes.change(session, service.now(), tidy))
    waits = wake_state.prompt is not None and wake_state.prompt.offered is None
    if wake_state.prompt is None or not waits or not may_be_handed_out(state, draft=draft):
        return wake_state, None
    is_old = not wake_state.prompt.text or abs(service.now() - wake_state.prompt.composed) > FRESH_FOR
    try:
        fresh = await compose_wake(service, here) if is_old else wake_state.prompt
    except Exception as fault:  # noqa: BLE001 - whatever it is, the heartbeat has its line, and the prompt waits on
        log.warning("a wake could not be written", extra={"episode": session, "reason": repr(fault)})
        return wake_state, None
    wake_state, taken = await in_thread(lambda: _take_prompt(service, session, fresh))
    if taken is not None:
        # If it is proven that the client never received the prompt, it waits again.
        if_unread(lambda: run_aside(in_thread(lambda: report_outcome(service, session, taken.id, "held"))))
    return wake_state, taken


def _take_prompt(service: RepositoryService, session: str, fresh: Prompt) -> tuple[WakeState, PromptToSubmit | None]:
    """Take the waiting prompt, with its present text. None if another heartbeat took it, or it was withdrawn meanwhile."""
    taken: list[Prompt] = []

    def take(wake_state: WakeState) -> Change:
        after, _ = recompose_prompt(wake_state, fresh)
        if after.prompt is not None and after.prompt.offered is None:
            taken.append(after.prompt)
        return offer_prompt(after, service.now())

    wake_state, _ = service.board.wakes.change(session, service.now(), take)
    return wake_state, PromptToSubmit(id=taken[0].id, text=taken[0].text) if taken else None


def due_at(wake_state: WakeState, rules: Rules, now: Instant) -> datetime | None:
    """When the next wake of the session is due. None if none will be, as things are now."""
    if wake_status(wake_state.cadence, rules) is not WakeStatus.ON:
        return None
    return (
        wake_state.prompt.composed
        if wake_state.prompt
        else now.wall + time_left(wake_state.anchor, rules.interval, now)
    )


def report_outcome(service: RepositoryService, session: str, prompt_id: str | None, outcome: Outcome) -> Change:
    """Record the outcome of a prompt that was handed out. If `prompt_id` is None, it is the one that the client has.

    A submitted prompt delivers the follow-ups in it. Blocks on the database.
    """
    delivered: list[Prompt] = []

    def tell(wake_state: WakeState) -> Change:
        named = prompt_id or (wake_state.prompt.id if wake_state.prompt else "")
        after, entries = record_outcome(wake_state, named, outcome, service.board.wakes.instant(service.now()))
        if entries and outcome == "submitted" and wake_state.prompt is not None:
            delivered.append(wake_state.prompt)
        return after, entries

    change = service.board.wakes.change(session, service.now(), tell)
    for prompt in delivered:
        service.mark_delivered(session, prompt.text)
    return change
