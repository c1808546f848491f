"""What a mod asks and tells of its session: a look every minute, the outcome of a prompt, and a person's prompt.

A look is answered with the line, and with at most one prompt to submit, which is handed out once.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field

from brief.answering.episodes import OpenInputs, open_episode
from brief.answering.shape import Inputs
from brief.answering.telling import alerts_told, brief_told
from brief.answering.waking import composed_wake, rules_of
from brief.core.cadence import (
    Instant,
    Rules,
    Standing,
    is_owed_with_prompt,
    may_be_handed_out,
    remaining,
    standing,
)
from brief.core.model import EpisodeState, Moment, Wire
from brief.core.start import prompt_text
from brief.core.text.line import compose_line
from brief.core.waking import (
    Change,
    Outcome,
    Prompt,
    Waking,
    lost,
    offered,
    prompted,
    recomposed,
    told_outcome,
    unchanged,
    withdrawn,
)
from brief.desk import Desk, Look
from brief.pace import minute
from brief.policy import switch_reason
from brief.threads import in_thread
from brief.trust import WAKING, Trust

FRESH_FOR = timedelta(minutes=2)
"""A prompt that was composed longer ago is composed anew before it is handed out."""

UNTRUSTED = (
    "this mod is installed for the user, and waking by it is not trusted in this repository; run majordomus trust"
)


class MindedInputs(Inputs):
    """A session that a mod minds, and what is known of its client."""

    session: str = Field(min_length=1, max_length=200, description="the id of the session")
    provider: str = Field(default="claude-code", max_length=40, description="whose agent it is")
    pid: int | None = Field(default=None, ge=1, le=2**31 - 1, description="the process it lives and dies with")


class LookInputs(MindedInputs):
    """What a session does now."""

    state: Literal["busy", "idle", "waiting"] = Field(description="waiting: a permission or a question is open")
    width: int | None = Field(default=None, ge=0, le=10_000, description="columns for the line")
    draft: bool = Field(default=False, description="something stands in the prompt box")
    scope: Literal["project", "user"] = Field(default="project", description="where the mod is installed")


class PromptToSubmit(Wire):
    """A prompt that a mod submits now, and whose outcome it then tells."""

    id: str
    text: str


class Looked(Wire):
    """The answer to a look. `reason` says why the switch is off; `due` is null where no wake is to come."""

    at: Moment
    line: str
    pinned: str
    notifications: tuple[str, ...]
    prompt: PromptToSubmit | None
    next_look_seconds: float
    interval_minutes: int
    switch: Literal["on", "off"]
    reason: str | None
    wakes: Standing
    due: Moment | None


class OutcomeInputs(Inputs):
    """What became of a prompt that a look handed out."""

    session: str = Field(min_length=1, max_length=200, description="the id of the session")
    prompt: str = Field(min_length=1, max_length=200, description="the id of the prompt")
    outcome: Outcome = Field(description="dropped: the person had pressed Esc; held: a draft is in the box")
    reason: str | None = Field(default=None, max_length=200, description="what the client said")


class Recorded(Wire):
    """Whether the outcome was one that was waited for, and whether the prompt waits to be handed out again."""

    recorded: bool
    waiting: bool


class PromptInputs(MindedInputs):
    """A prompt that is about to be sent; its text is nobody's business here."""

    human: bool = Field(default=True, description="whether a person wrote it")


class Attached(Wire):
    """What goes with a prompt, empty where that is nothing; `bytes` in UTF-8."""

    context: str
    carries: Literal["brief", "alerts", "nothing"]
    bytes: int


# ---------------------------------------------------------------- look


async def look(desk: Desk, asked: LookInputs) -> Looked:
    """Note what the session does, and answer with the line and what it is to do."""
    here = await in_thread(lambda: desk.look(asked.root, asked.session))
    await _heard(desk, here, asked, EpisodeState(asked.state))
    reason = switch_reason(here.policy) or _why_untrusted(desk, asked)
    rules = replace(rules_of(here), on=reason is None)
    sections = await desk.glance(here, asked.session)
    waking, prompt = await _handed_out(
        desk, here, rules, asked
    )  # last, since what fails after it would lose the prompt
    now = desk.now()
    return Looked(
        at=now,
        line=compose_line(sections, now, asked.width),
        pinned="",
        notifications=(),
        prompt=prompt,
        next_look_seconds=_next_look(desk, asked, waking),
        interval_minutes=here.ask.settings.session.brief_interval_minutes,
        switch="on" if rules.on else "off",
        reason=reason,
        wakes=standing(waking.cadence, rules),
        due=due_at(waking, rules, desk.board.wakes.instant(now)),
    )


def looked_text(answer: Looked) -> str:
    """The line alone."""
    return f"{answer.line}\n"


async def _heard(desk: Desk, here: Look, asked: MindedInputs, state: EpisodeState) -> None:
    """Note that a mod minds the session, and what that does; one that nobody knows or that was closed is opened."""
    desk.served.note(asked.session, desk.now())
    episode = next((one.episode for one in desk.board.known() if one.episode.id == asked.session), None)
    if episode is None or (episode.state, episode.checkout) != (state, here.ask.checkout):
        opened = OpenInputs(root=asked.root, session=asked.session, provider=asked.provider, state=state, pid=asked.pid)
        await open_episode(desk, opened)


def _why_untrusted(desk: Desk, asked: LookInputs) -> str | None:
    is_trusted = asked.scope == "project" or Trust.read().trusted(desk.common_dir, *WAKING)
    return None if is_trusted else UNTRUSTED


async def _handed_out(desk: Desk, here: Look, rules: Rules, asked: LookInputs) -> tuple[Waking, PromptToSubmit | None]:
    """The prompt that the session submits now, if one waits and it may; what may not wait any longer is withdrawn."""
    wakes, is_idle = desk.board.wakes, asked.state == "idle"

    def tidied(waking: Waking) -> Change:
        stands = standing(waking.cadence, rules)
        if stands is not Standing.ON:
            return withdrawn(waking, stands)
        return lost(waking, wakes.instant(desk.now())) if is_idle else unchanged(waking)

    waking, _ = await in_thread(lambda: wakes.change(asked.session, desk.now(), tidied))
    waits = waking.prompt is not None and waking.prompt.offered is None
    if waking.prompt is None or not waits or not may_be_handed_out(EpisodeState(asked.state), draft=asked.draft):
        return waking, None
    is_old = abs(desk.now() - waking.prompt.composed) > FRESH_FOR
    fresh = await composed_wake(desk, here) if is_old else waking.prompt
    return await in_thread(lambda: _taken(desk, asked.session, fresh))


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


def _next_look(desk: Desk, asked: LookInputs, waking: Waking) -> float:
    """Sooner while the session waits for a person, or something waits for the session."""
    is_owed = waking.prompt is not None or bool(desk.board.signals(asked.session))
    return minute().total_seconds() / (2 if is_owed or asked.state == "waiting" else 1)


def due_at(waking: Waking, rules: Rules, now: Instant) -> datetime | None:
    """When a wake of the session is due; None where none will be, as long as nothing changes."""
    if standing(waking.cadence, rules) is not Standing.ON:
        return None
    return waking.prompt.composed if waking.prompt else now.wall + remaining(waking.anchor, rules.interval, now)


# ---------------------------------------------------------------- outcomes


async def outcome(desk: Desk, asked: OutcomeInputs) -> Recorded:
    """Note what became of a prompt: only now is it delivered, or not."""

    def work() -> Recorded:
        desk.look(asked.root)
        desk.served.note(asked.session, desk.now())
        delivered: list[Prompt] = []

        def tell(waking: Waking) -> Change:
            if asked.outcome == "submitted" and waking.prompt is not None and waking.prompt.id == asked.prompt:
                delivered.append(waking.prompt)
            return told_outcome(waking, asked.prompt, asked.outcome, desk.board.wakes.instant(desk.now()))

        after, entries = desk.board.wakes.change(asked.session, desk.now(), tell)
        for prompt in delivered:
            desk.told(asked.session, prompt.text)
        return Recorded(recorded=bool(entries), waiting=after.prompt is not None and after.prompt.offered is None)

    return await in_thread(work)


def recorded_text(answer: Recorded) -> str:
    """Whether it was recorded."""
    return "recorded\n" if answer.recorded else "not recorded: no such prompt was handed out, or it was told before\n"


# ---------------------------------------------------------------- a prompt


async def prompt(desk: Desk, asked: PromptInputs) -> Attached:
    """What goes with a prompt: the block of alerts always, the brief with the first of a session and once an interval."""
    here = await in_thread(lambda: desk.look(asked.root, asked.session))
    await _heard(desk, here, asked, EpisodeState.BUSY)
    if asked.human and await in_thread(lambda: _owes_brief(desk, here, asked.session)):
        context, carries = (await brief_told(desk, here, "mod", prompt_text)).context, "brief"
    else:
        context = await alerts_told(desk, here, "mod")
        carries = "alerts" if context else "nothing"
    return Attached(context=context, carries=carries, bytes=len(context.encode()))


def _owes_brief(desk: Desk, here: Look, session: str) -> bool:
    """Whether the brief goes with this prompt of a person, with which the limit begins anew."""
    now = desk.board.wakes.instant(desk.now())
    waking, _ = desk.board.wakes.change(session, now.wall, prompted)
    return is_owed_with_prompt(waking.cadence, rules_of(here), now, waking.briefed)


def attached_text(answer: Attached) -> str:
    """The text as it is."""
    return answer.context
