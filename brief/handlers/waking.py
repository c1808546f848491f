"""The rules by which a session is woken, and the prompt that wakes it, for the schedule, heartbeats and `wake now`."""

from __future__ import annotations

import asyncio
import time
import uuid
from datetime import datetime

from msgspec.structs import replace

from brief.core.text.brief_digest import digest_facts
from brief.core.wakes.rules import Rules, WakeStatus, rules_of_policy, wake_status
from brief.core.wakes.state import Prompt, is_brief_owed, record_person_prompt
from brief.core.wakes.wake_text import wake_text
from brief.handlers.session_context import read_unseen
from brief.policy import switch_reason
from brief.request import RequestContext
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread
from brief.support.schedule_clock import one_minute

CHANNEL_SECONDS = 0.15
"""How long the start of a session waits for the first call of the channel that will wake it."""

UNTRUSTED = (
    "the channel that wakes sessions is installed for the user, or cannot be proven to be the project's alone, and it is "
    "not trusted in this repository; run majordomus trust"
)


async def compose_wake(service: RepositoryService, request: RequestContext) -> Prompt:
    """Compose the prompt that wakes the session of a request."""
    query = request.query
    (shown, _), kept = await asyncio.gather(
        read_unseen(service, query), service.brief(query.root, query.session, local=False)
    )
    follow_ups = [follow_up.line for follow_up in service.board.follow_ups(query.session or "")]
    return Prompt(
        id=uuid.uuid4().hex,
        text=wake_text(kept.value, shown, follow_ups),
        facts=digest_facts(kept.value),
        composed=kept.value.generated_at,
    )


def uncomposed_wake(now: datetime) -> Prompt:
    """A prompt that is composed only when it is handed out, so that a thousand can be queued within a second."""
    return Prompt(id=uuid.uuid4().hex, text="", facts="", composed=now)


def rules_of(request: RequestContext) -> Rules:
    """The wake rules of a checkout."""
    return rules_of_policy(request.query.settings, one_minute())


def rules_in(service: RepositoryService, root: str) -> Rules:
    """The wake rules of the checkout at `root`, by its policy alone. Raises RepositoryError."""
    return rules_of_policy(service.checkout_config(root).settings, one_minute())


def rules_for(service: RepositoryService, request: RequestContext, session: str) -> tuple[Rules, str | None]:
    """The wake rules for a session, given the scope of its channel, and the reason if it is not woken here."""
    reason = switch_reason(request.policy) or why_untrusted(service, session)
    return replace(rules_of(request), on=reason is None), reason


def why_untrusted(service: RepositoryService, session: str) -> str | None:
    """Why the channel of a session may not wake it in this repository, None if it may."""
    return UNTRUSTED if service.context.untrusted(session) else None


async def is_woken(service: RepositoryService, request: RequestContext) -> bool:
    """Whether a starting session will be woken with its brief: the policy wants it, and a channel can do it.

    The process that waits beside a session starts together with the hook that asks, so this waits briefly for its call.
    """
    session = request.query.session
    if session is None or service.context.absence is not None or not rules_of(request).on:
        return False
    end = time.monotonic() + CHANNEL_SECONDS
    while service.activity.channel(session) is None:
        if time.monotonic() >= end:
            return False
        await asyncio.sleep(CHANNEL_SECONDS / 10)
    rules_of_policy, _ = rules_for(service, request, session)
    wake_state = await in_thread(lambda: service.board.wake_state(session))
    return (
        rules_of_policy.on if wake_state is None else wake_status(wake_state.cadence, rules_of_policy) is WakeStatus.ON
    )


def note_person_prompt(service: RepositoryService, request: RequestContext) -> bool:
    """Whether a brief is owed with this prompt of a person, which also resets the wake limit. Blocks on the database."""
    now = service.board.wakes.instant(service.now())
    wake_state, _ = service.board.wakes.change(request.query.session or "", now.wall, record_person_prompt)
    return is_brief_owed(wake_state, rules_of(request), now)
