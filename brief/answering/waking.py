"""The prompt that wakes a session, composed for the schedule, for a look and for `wake now` alike."""

from __future__ import annotations

import asyncio
import uuid

from brief.answering.telling import shown_to
from brief.core.cadence import Rules, rules
from brief.core.facts import facts
from brief.core.wake_text import wake_text
from brief.core.waking import Prompt
from brief.desk import Desk, Look
from brief.pace import minute


async def composed_wake(desk: Desk, look: Look) -> Prompt:
    """The prompt for the session that a look is about, as things are now."""
    ask = look.ask
    shown, kept = await asyncio.gather(shown_to(desk, ask), desk.brief(ask.root, ask.session, local=False))
    return Prompt(
        id=uuid.uuid4().hex,
        text=wake_text(kept.value, shown),
        facts=facts(kept.value),
        composed=kept.value.generated_at,
    )


def rules_of(look: Look) -> Rules:
    """The rules of waking in a checkout."""
    return rules(look.ask.settings, minute())
