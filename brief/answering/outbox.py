"""The outbox of a session: the prompt that waits in it, handed out once, to a session that may be given it now."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from brief.answering.waking import composed_wake
from brief.core.cadence import Instant, Rules, Standing, may_be_handed_out, remaining, standing
from brief.core.model import EpisodeState, Wire
from brief.core.waking import Change, Outcome, Prompt, Waking, offered, recomposed, tidied, told_outcome
from brief.desk import Desk, Look
from brief.threads import in_thread

log = logging.getLogger(__name__)

FRESH_FOR = timedelta(minutes=2)
"""A prompt that was composed longer ago is composed anew before it is handed out."""


class PromptToSubmit(Wire):
    """A prompt that a mod submits now, and whose outcome it then tells."""

    id: str
    text: str


async def handed_out(
    desk: Desk, here: Look, rules: Rules, state: EpisodeState, *, draft: bool
) -> tuple[Waking, PromptToSubmit | None]:
    """The prompt that the session of a look submits now, if one waits and it may, given its `state`.

    What may not wait any longer is withdrawn.
    """
    session, wakes = here.ask.session or "", desk.board.wakes

    def tidy(waking: Waking) -> Change:
        return tidied(waking, rules, wakes.instant(desk.now()), is_idle=state is EpisodeState.IDLE)

    waking, _ = await in_thread(lambda: wakes.change(session, desk.now(), tidy))
    waits = waking.prompt is not None and waking.prompt.offered is None
    if waking.prompt is None or not waits or not may_be_handed_out(state, draft=draft):
        return waking, None
    is_old = not waking.prompt.text or abs(desk.now() - waking.prompt.composed) > FRESH_FOR
    try:
        fresh = await composed_wake(desk, here) if is_old else waking.prompt
    except Exception as fault:  # noqa: BLE001 - whatever it is, the look has its line, and the prompt waits on
        log.warning("a wake could not be written", extra={"episode": session, "reason": repr(fault)})
        return waking, None
    return await in_thread(lambda: _taken(desk, session, fresh))


def _taken(desk: Desk, session: str, fresh: Prompt) -> tuple[Waking, PromptToSubmit | None]:
    """The prompt that waits, as it says now; None where another look has taken it, or it was withdrawn meanwhile."""
    taken: list[Prompt] = []

    def take(waking: Waking) -> Change:
        after, _ = recomposed(waking, fresh)
        if after.prompt is not None and after.prompt.offered is None:
            taken.append(after.prompt)
        return offered(after, desk.now())

    waking, _ = desk.board.wakes.change(session, desk.now(), take)
    return waking, PromptToSubmit(id=taken[0].id, text=taken[0].text) if taken else None


def due_at(waking: Waking, rules: Rules, now: Instant) -> datetime | None:
    """When a wake of the session is due; None where none will be, as long as nothing changes."""
    if standing(waking.cadence, rules) is not Standing.ON:
        return None
    return waking.prompt.composed if waking.prompt else now.wall + remaining(waking.anchor, rules.interval, now)


def concluded(desk: Desk, session: str, prompt_id: str | None, outcome: Outcome) -> Change:
    """Note what became of a prompt that a client has, whichever it is where `prompt_id` is None.

    What was submitted tells the session what it was owed. Blocks on the database.
    """
    delivered: list[Prompt] = []

    def tell(waking: Waking) -> Change:
        named = prompt_id or (waking.prompt.id if waking.prompt else "")
        after, entries = told_outcome(waking, named, outcome, desk.board.wakes.instant(desk.now()))
        if entries and outcome == "submitted" and waking.prompt is not None:
            delivered.append(waking.prompt)
        return after, entries

    change = desk.board.wakes.change(session, desk.now(), tell)
    for prompt in delivered:
        desk.told(session, prompt.text)
    return change
