"""What a client's hook tells of its session, and what that session must read now."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeVar

from pydantic import Field

from brief.answering.archiving import archive_expired
from brief.answering.episodes import CloseInputs, OpenInputs, close_episode, open_episode
from brief.answering.shape import SessionInputs
from brief.core.block import block, courtesies_in, without_seen
from brief.core.episode import Episode
from brief.core.judge import Shown
from brief.core.model import EpisodeState, Wire
from brief.core.notice import Kind
from brief.core.start import start_text
from brief.desk import Desk, Look
from brief.notices.seen import mark_seen, seen
from brief.owners.alerts import judged
from brief.owners.world import Ask
from brief.threads import in_thread

ASIDE_SECONDS = 0.1
"""How long the text waits for what is done beside it."""

JUDGED_SECONDS = 1.0
"""How long the notices may take: longer than any folder of them needs, and short of what a hook has in all."""

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class HookInputs(SessionInputs):
    """An event of a session, as its client told it."""

    event: Literal["session-start", "user-prompt-submit", "stop", "session-end"] = Field(
        description="what happens: at the first two the session reads something"
    )
    source: str | None = Field(default=None, max_length=100, description="how it starts: startup, resume, compact ...")
    reason: str | None = Field(default=None, max_length=100, description="why it ends")
    provider: str = Field(default="unknown", max_length=40, description="whose agent it is, as in claude-code")
    pid: int | None = Field(default=None, ge=1, le=2**31 - 1, description="the process it lives and dies with")
    carrier: Literal["hook", "mod"] = Field(
        default="hook", description="how the answer reaches the session; a hook is silent where a mod just spoke"
    )


class HookAnswer(Wire):
    """What the session must read now; empty where there is nothing."""

    context: str


async def hook(desk: Desk, asked: HookInputs) -> HookAnswer:
    """Note what the session does, and compose what it must read."""
    look = await in_thread(lambda: desk.look(asked.root, asked.session))
    if asked.session is not None and desk.world.absence is None:
        await _aside(_noted(desk, asked, asked.session))
    if asked.event in ("stop", "session-end") or _is_told_already(desk, asked):
        return HookAnswer(context="")
    context = await _composed(desk, look, asked)
    if asked.carrier == "mod" and asked.session is not None:
        desk.served.note(asked.session, desk.now())
    return HookAnswer(context=context)


def hook_text(answer: HookAnswer) -> str:
    """The text as it is."""
    return answer.context


async def _aside(work: Awaitable[Result]) -> Result | None:
    """Do what the text does not depend on: where that fails or takes long, None, and the text comes all the same."""
    try:
        async with asyncio.timeout(ASIDE_SECONDS):
            return await work
    except Exception as fault:  # noqa: BLE001 - whatever it is, the session goes on
        log.warning("not done beside a hook", extra={"reason": repr(fault)})
        return None


# ---------------------------------------------------------------- the episode


async def _noted(desk: Desk, asked: HookInputs, session: str) -> None:
    before = next((one.episode for one in desk.board.known() if one.episode.id == session), None)
    if asked.event == "session-end":
        if before is not None:
            reason = f"its client ended it: {asked.reason or 'no reason given'}"
            await close_episode(desk, CloseInputs(root=asked.root, session=session, reason=reason))
    elif asked.event != "stop" or before is not None:
        await open_episode(desk, _opened(asked, before))


def _opened(asked: HookInputs, before: Episode | None) -> OpenInputs:
    known = before.provider if before and asked.provider == "unknown" else asked.provider
    state = _state(asked, before)
    return OpenInputs(root=asked.root, session=asked.session, provider=known, state=state, pid=asked.pid)


def _state(asked: HookInputs, before: Episode | None) -> EpisodeState:
    """Busy from a prompt to the end of its turn; a conversation is compacted in the midst of one."""
    if asked.event == "user-prompt-submit":
        return EpisodeState.BUSY
    if asked.source == "compact" and before is not None:
        return before.state
    return EpisodeState.IDLE


# ---------------------------------------------------------------- the text


def _is_told_already(desk: Desk, asked: HookInputs) -> bool:
    """Whether a settings hook asks for a session that the mod of the same client has told just now."""
    return asked.carrier == "hook" and asked.session is not None and desk.served.lately(asked.session, desk.now())


async def _composed(desk: Desk, look: Look, asked: HookInputs) -> str:
    budget = look.ask.settings.alerts.block_characters
    if asked.event == "user-prompt-submit":
        shown = await _shown(desk, look.ask)
        return await _told_once(desk, asked.session, shown, lambda shown: block(shown, budget))
    shown, kept = await asyncio.gather(_shown(desk, look.ask), desk.brief(asked.root, asked.session, local=False))
    session = asked.session
    text = await _told_once(desk, session, shown, lambda shown: start_text(shown, kept.value, budget))
    if session is not None:
        await _aside(in_thread(lambda: desk.told(session, text)))
    return text


async def _shown(desk: Desk, ask: Ask) -> list[Shown]:
    """What this session has still to read of the notices; none where they cannot be read now, since a brief says so."""
    try:
        async with asyncio.timeout(JUDGED_SECONDS):
            found = await in_thread(lambda: judged(desk.world, ask))
            known = await in_thread(lambda: seen(desk.world.state_dir, ask.session, _courtesies(found.shown)))
    except Exception as fault:  # noqa: BLE001 - whatever it is, the session goes on
        log.warning("no alerts for a hook", extra={"reason": repr(fault)})
        return []
    await _aside(in_thread(lambda: archive_expired(desk, ask, found)))
    return without_seen(found.shown, known)


def _courtesies(shown: Sequence[Shown]) -> frozenset[str]:
    return frozenset(each.notice.slug for each in shown if each.notice.kind is Kind.COURTESY)


async def _told_once(
    desk: Desk, session: str | None, shown: list[Shown], text: Callable[[Sequence[Shown]], str]
) -> str:
    """The text, each courtesy in it marked as seen, and without those that another carrier has just told."""
    whole = text(shown)
    named = courtesies_in(whole, shown)
    if session is None or not named:
        return whole
    ours = await _aside(in_thread(lambda: mark_seen(desk.world.state_dir, session, named)))
    return whole if ours is None or ours == named else text(without_seen(shown, named - ours))
