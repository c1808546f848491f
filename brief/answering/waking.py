"""What the schedule, a look and `wake now` share: by which rules a session is woken, and the prompt that wakes it."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from datetime import datetime

from brief.answering.telling import shown_to
from brief.core.cadence import Rules, rules
from brief.core.facts import facts
from brief.core.wake_text import wake_text
from brief.core.waking import Prompt, owes_with_prompt, prompted
from brief.desk import Desk, Look
from brief.pace import minute
from brief.policy import switch_reason

UNTRUSTED = (
    "what wakes sessions is installed for the user, and waking by that is not trusted in this repository; "
    "run majordomus trust"
)


async def composed_wake(desk: Desk, look: Look) -> Prompt:
    """The prompt for the session that a look is about, as things are now."""
    ask = look.ask
    shown, kept = await asyncio.gather(shown_to(desk, ask), desk.brief(ask.root, ask.session, local=False))
    owed = [signal.line for signal in desk.board.signals(ask.session or "")]
    return Prompt(
        id=uuid.uuid4().hex,
        text=wake_text(kept.value, shown, owed),
        facts=facts(kept.value),
        composed=kept.value.generated_at,
    )


def unwritten_wake(now: datetime) -> Prompt:
    """A prompt that is written when it is handed out, so that a thousand can be queued within a second."""
    return Prompt(id=uuid.uuid4().hex, text="", facts="", composed=now)


def rules_of(look: Look) -> Rules:
    """The rules of waking in a checkout."""
    return rules(look.ask.settings, minute())


def rules_in(desk: Desk, root: str) -> Rules:
    """The rules of waking in the checkout at `root`, by its policy alone; raises RepositoryError."""
    return rules(desk.ground(root).settings, minute())


def rules_for(desk: Desk, look: Look, session: str) -> tuple[Rules, str | None]:
    """The rules for a session as its carrier is installed, and why it is not woken here; None where it is."""
    reason = switch_reason(look.policy) or why_untrusted(desk, session)
    return replace(rules_of(look), on=reason is None), reason


def why_untrusted(desk: Desk, session: str) -> str | None:
    """Why the carrier of a session may not wake it in this repository; None where it may."""
    return UNTRUSTED if desk.world.untrusted(session) else None


def owes_brief(desk: Desk, look: Look) -> bool:
    """Whether the brief goes with this prompt of a person, with which the limit begins anew. Blocks on the database."""
    now = desk.board.wakes.instant(desk.now())
    waking, _ = desk.board.wakes.change(look.ask.session or "", now.wall, prompted)
    return owes_with_prompt(waking, rules_of(look), now)
