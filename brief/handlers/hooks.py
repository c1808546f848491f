"""The events that a client's hook reports about its session, and the text that the session must read."""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from brief.core.model.section_data import EpisodeState
from brief.core.model.wire import Wire
from brief.core.sessions.episode import Episode, check_id
from brief.core.sessions.start_text import prompt_text, start_text
from brief.core.text.sanitize import clean
from brief.handlers.aside import run_aside
from brief.handlers.episodes import OpenInputs, open_in_checkout
from brief.handlers.inputs import SessionInputs
from brief.handlers.outbox import report_outcome
from brief.handlers.session_context import compose_alerts_context, compose_brief_context
from brief.handlers.waking import is_woken, note_person_prompt, rules_of
from brief.request import RequestContext
from brief.service import RepositoryService
from brief.sessions.handover import leave, note_client
from brief.support.daemon_threads import in_thread


class HookInputs(SessionInputs, frozen=True, kw_only=True):
    """An event of a session, as its client reports it."""

    may_abbreviate_session: ClassVar[bool] = False

    event: Annotated[
        Literal["session-start", "user-prompt-submit", "stop", "session-end"],
        Meta(description="what happened; only at the first two does the session read the answer"),
    ]
    source: (
        Annotated[str, Meta(max_length=100, description="how the session starts: startup, resume, compact ...")] | None
    ) = None
    reason: Annotated[str, Meta(max_length=100, description="why the session ends")] | None = None
    speaker: Annotated[Literal["person", "client", "wake"], Meta(description="who wrote the prompt")] = "person"
    provider: Annotated[
        str, Meta(max_length=40, description="coding agent that runs the session, such as claude-code")
    ] = "unknown"
    pid: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=2**31 - 1,
                description="number of the session's process; the episode ends when this process is gone",
            ),
        ]
        | None
    ) = None
    channel: Annotated[
        Literal["hook", "mod"],
        Meta(description="how the answer reaches the session; a hook is silent where a mod just spoke"),
    ] = "hook"


class HookAnswer(Wire, frozen=True):
    """The text that the session must read, possibly empty."""

    context: str


async def report_event(service: RepositoryService, inputs: HookInputs) -> HookAnswer:
    """Note an event of a session, and compose the text that it must read."""
    await service.turns.settle(inputs.session)
    request = await in_thread(lambda: service.request_context(inputs.root, inputs.session, hurried=True))
    if inputs.session is not None and service.context.absence is None:
        await run_aside(_note_event(service, request, inputs, inputs.session))
    if inputs.event in ("stop", "session-end") or _is_served_by_mod(service, inputs):
        return HookAnswer(context="")
    context = await _compose_context(service, request, inputs)
    if inputs.channel == "mod" and inputs.session is not None:
        service.activity.note_served(inputs.session, service.now())
    return HookAnswer(context=context)


def hook_text(answer: HookAnswer) -> str:
    """The text."""
    return answer.context


# ---------------------------------------------------------------- the episode


async def _note_event(service: RepositoryService, request: RequestContext, inputs: HookInputs, session: str) -> None:
    before = next((one.episode for one in service.board.open_episodes() if one.episode.id == session), None)
    if inputs.event == "session-end":
        if before is not None:
            reason = clean(f"its client ended it: {inputs.reason or 'no reason given'}")
            await in_thread(lambda: leave(service.board, session, inputs.pid, reason, service.now()))
    elif inputs.event != "stop" or before is not None:
        await in_thread(lambda: _note_state(service, request, inputs, before))


def _note_state(
    service: RepositoryService, request: RequestContext, inputs: HookInputs, before: Episode | None
) -> None:
    """Note the state of the session, unless another client owns it."""
    session, now = check_id(inputs.session or ""), service.now()
    if inputs.pid is not None and not note_client(service.board, session, inputs.pid, request.query.checkout, now):
        return
    known = before.provider if before and inputs.provider == "unknown" else inputs.provider
    state = _state_after(inputs, before)
    said = OpenInputs(root=inputs.root, session=session, provider=known, state=state, pid=inputs.pid)
    open_in_checkout(service, request, said, takes_over=inputs.source == "clear")


def _state_after(inputs: HookInputs, before: Episode | None) -> EpisodeState:
    """The state after the event. Compacting happens during a turn, so it changes nothing."""
    if inputs.event == "user-prompt-submit":
        return EpisodeState.BUSY
    if inputs.source == "compact" and before is not None:
        return before.state
    return EpisodeState.IDLE


# ---------------------------------------------------------------- the text


def _is_served_by_mod(service: RepositoryService, inputs: HookInputs) -> bool:
    """Whether a settings hook asks for a session that the mod of the same client has just served."""
    return (
        inputs.channel == "hook"
        and inputs.session is not None
        and service.activity.is_served(inputs.session, service.now())
    )


async def _compose_context(service: RepositoryService, request: RequestContext, inputs: HookInputs) -> str:
    if inputs.event == "session-start":
        text = partial(start_text, is_woken=await is_woken(service, request))
        return (await compose_brief_context(service, request, inputs.channel, text)).context
    if inputs.session is not None and service.context.absence is None:
        return await _compose_prompt_context(service, request, inputs, inputs.session)
    return await compose_alerts_context(service, request, inputs.channel)


async def _compose_prompt_context(
    service: RepositoryService, request: RequestContext, inputs: HookInputs, session: str
) -> str:
    """Compose the context of a prompt: none for a wake, and the brief with a person's prompt if it is due.

    A prompt that merely starts like a wake while none is outstanding is a quotation; it is treated as ordinary.
    """
    if inputs.speaker == "wake":
        change = await run_aside(in_thread(lambda: report_outcome(service, session, None, "submitted")))
        if change is None or change[1]:
            return ""
    if (
        inputs.speaker == "person"
        and await run_aside(in_thread(lambda: note_person_prompt(service, request)))
        and rules_of(request).on
    ):
        return (await compose_brief_context(service, request, inputs.channel, prompt_text)).context
    return await compose_alerts_context(service, request, inputs.channel)
