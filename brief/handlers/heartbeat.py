"""The calls of a mod on behalf of its session: a heartbeat every minute, the outcome of a prompt, and each prompt.

The answer to a heartbeat holds the line, and at most one prompt to submit, which is handed out only once.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from brief.core.model.errors import GitError
from brief.core.model.section_data import EpisodeState
from brief.core.model.wire import Moment, Wire
from brief.core.sessions.episode import Episode, check_id, is_of_another
from brief.core.sessions.start_text import prompt_text
from brief.core.text.line import compose_line
from brief.core.text.sanitize import clean
from brief.core.wakes.rules import WakeStatus, wake_status
from brief.core.wakes.state import Outcome, WakeState, change_nothing
from brief.handlers.episodes import OpenInputs, open_in_checkout
from brief.handlers.inputs import Inputs
from brief.handlers.outbox import PromptToSubmit, due_at, hand_out_prompt, report_outcome
from brief.handlers.session_context import compose_alerts_context, compose_brief_context
from brief.handlers.waking import note_person_prompt, rules_for
from brief.request import RequestContext
from brief.service import RepositoryService
from brief.sessions.activity import Scope
from brief.sessions.channel_scope import scope_of_mod
from brief.sessions.client_records import client_folder
from brief.sessions.handover import note_client
from brief.support.daemon_threads import in_thread
from brief.support.schedule_clock import one_minute

log = logging.getLogger(__name__)


class ClientInputs(Inputs, frozen=True, kw_only=True):
    """A session that a mod serves, and its client."""

    may_abbreviate_session: ClassVar[bool] = False

    session: Annotated[str, Meta(min_length=1, max_length=200, description="id of the session")]
    provider: Annotated[str, Meta(max_length=40, description="coding agent that runs the session")] = "claude-code"
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


class HeartbeatInputs(ClientInputs, frozen=True, kw_only=True):
    """The present state of a session."""

    state: Annotated[
        Literal["busy", "idle", "waiting"],
        Meta(description="what the session is doing; waiting means that a permission or a question is open"),
    ]
    width: Annotated[int, Meta(ge=0, le=10_000, description="most columns that the line may take")] | None = None
    draft: Annotated[bool, Meta(description="whether the prompt box holds a draft")] = False
    scope: Annotated[Scope, Meta(description="where the mod is installed")] = "project"


class HeartbeatAnswer(Wire, frozen=True):
    """The answer to a heartbeat. `reason` says why the switch is off. `due` is null if no wake is scheduled."""

    at: Moment
    line: str
    prompt: PromptToSubmit | None
    next_heartbeat_seconds: float
    interval_minutes: int
    switch: Literal["on", "off"]
    reason: str | None
    wakes: WakeStatus
    due: Moment | None


class OutcomeInputs(Inputs, frozen=True, kw_only=True):
    """The outcome of a prompt that a heartbeat handed out."""

    may_abbreviate_session: ClassVar[bool] = False

    session: Annotated[str, Meta(min_length=1, max_length=200, description="id of the session")]
    prompt: Annotated[str, Meta(min_length=1, max_length=200, description="id of the prompt")]
    outcome: Annotated[
        Outcome,
        Meta(
            description="what became of the prompt; dropped: the person had pressed Esc; held: the prompt box holds a draft"
        ),
    ]
    reason: Annotated[str, Meta(max_length=200, description="the client's own explanation")] | None = None


class RecordedOutcome(Wire, frozen=True):
    """Whether the outcome was expected, and whether the prompt waits to be handed out again."""

    recorded: bool
    waiting: bool


class PromptInputs(ClientInputs, frozen=True, kw_only=True):
    """A prompt that is about to be sent. Its text is not transmitted."""

    human: Annotated[bool, Meta(description="whether a person wrote the prompt")] = True


class AttachedContext(Wire, frozen=True):
    """The context to add to a prompt, possibly empty. `bytes` is its length in UTF-8."""

    context: str
    carries: Literal["brief", "alerts", "nothing"]
    bytes: int


# ---------------------------------------------------------------- heartbeat


async def answer_heartbeat(service: RepositoryService, inputs: HeartbeatInputs) -> HeartbeatAnswer:
    """Note the state of the session, and answer with its line and a prompt to submit, if one waits."""
    here, is_owner = await in_thread(lambda: _note_heartbeat(service, inputs))
    rules, reason = rules_for(service, here, inputs.session)
    sections = await service.sections_for_line(here, inputs.session)
    # This comes last, since a failure after it would lose the prompt.
    if is_owner:
        wake_state, prompt = await hand_out_prompt(service, here, rules, EpisodeState(inputs.state), draft=inputs.draft)
    else:
        wake_state, prompt = await _wake_state(service, inputs), None
    now = service.now()
    return HeartbeatAnswer(
        at=now,
        line=compose_line(sections, now, inputs.width, head_unread=here.repository.head_unread),
        prompt=prompt,
        next_heartbeat_seconds=_next_heartbeat(service, inputs, wake_state),
        interval_minutes=here.query.settings.session.brief_interval_minutes,
        switch="on" if rules.on else "off",
        reason=reason,
        wakes=wake_status(wake_state.cadence, rules),
        due=due_at(wake_state, rules, service.board.wakes.instant(now)),
    )


def heartbeat_text(answer: HeartbeatAnswer) -> str:
    """The line."""
    return f"{answer.line}\n"


def _note_heartbeat(service: RepositoryService, inputs: HeartbeatInputs) -> tuple[RequestContext, bool]:
    """Note the heartbeat and the scope of the mod: its place decides, and its own claim can only make that stricter."""
    here, is_owner = _note_session(service, inputs, EpisodeState(inputs.state))
    scope = scope_of_mod(inputs.scope, client_folder(), _checkout_roots(here))
    service.activity.note_channel(inputs.session, scope, draft=inputs.draft)
    return here, is_owner


def _checkout_roots(here: RequestContext) -> Iterator[str]:
    """Every checkout, since a session that moves to another one keeps the mod of the one it started in.

    The likely ones come first, since each of the others costs a stat.
    """
    yield here.here.root
    if here.query.primary is not None:
        yield here.query.primary
    with contextlib.suppress(GitError):
        yield from (tree.root for tree in here.context.worktrees())


def _note_session(
    service: RepositoryService, inputs: ClientInputs, state: EpisodeState, *, hurried: bool = False
) -> tuple[RequestContext, bool]:
    """Note that a mod serves the session, and the session's state. An unknown or closed session is opened.

    Returns the context of the request, and False if another client owns the session: then its record stays unchanged.
    """
    here = service.request_context(inputs.root, inputs.session, hurried=hurried)
    now, checkout = service.now(), here.query.checkout
    service.activity.note_served(check_id(inputs.session), now)
    if inputs.pid is not None and not note_client(service.board, inputs.session, inputs.pid, checkout, now):
        return here, False
    known = service.board.find_open(inputs.session)
    episode = None if known is None else known.episode
    if episode is None or _has_changed(episode, inputs, state, checkout):
        said = OpenInputs(
            root=inputs.root, session=inputs.session, provider=inputs.provider, state=state, pid=inputs.pid
        )
        # A mod serves one session at a time, so an unknown session took the place of another.
        open_in_checkout(service, here, said, takes_over=service.board.find_episode(inputs.session) is None)
    return here, True


def _has_changed(episode: Episode, inputs: ClientInputs, state: EpisodeState, checkout: str) -> bool:
    """Whether a client reports something about its episode that differs from the record."""
    names_process = inputs.pid is not None and episode.process is None
    moved = (episode.state, episode.checkout) != (state, checkout)
    return moved or names_process or is_of_another(episode, inputs.pid)


async def _wake_state(service: RepositoryService, inputs: HeartbeatInputs) -> WakeState:
    return (await in_thread(lambda: service.board.wakes.change(inputs.session, service.now(), change_nothing)))[0]


def _next_heartbeat(service: RepositoryService, inputs: HeartbeatInputs, wake_state: WakeState) -> float:
    """Seconds until the next heartbeat: fewer while the session waits for a person, or something waits for it."""
    is_owed = wake_state.prompt is not None or bool(service.board.follow_ups(inputs.session))
    return one_minute().total_seconds() / (2 if is_owed or inputs.state == "waiting" else 1)


# ---------------------------------------------------------------- outcomes


async def record_prompt_outcome(service: RepositoryService, inputs: OutcomeInputs) -> RecordedOutcome:
    """Record the outcome of a prompt. Only this decides whether it was delivered."""

    def work() -> RecordedOutcome:
        service.request_context(inputs.root)
        service.activity.note_served(inputs.session, service.now())
        after, entries = report_outcome(service, inputs.session, inputs.prompt, inputs.outcome)
        if entries and inputs.outcome == "failed":
            log.warning(
                "a wake failed", extra={"episode": inputs.session, "reason": clean(inputs.reason or "none given")}
            )
        return RecordedOutcome(
            recorded=bool(entries), waiting=after.prompt is not None and after.prompt.offered is None
        )

    return await in_thread(work)


def recorded_text(answer: RecordedOutcome) -> str:
    """Whether the outcome was recorded."""
    return (
        "recorded\n" if answer.recorded else "not recorded: this prompt was not handed out, or has an outcome already\n"
    )


# ---------------------------------------------------------------- a prompt


async def attach_context(service: RepositoryService, inputs: PromptInputs) -> AttachedContext:
    """Compose the context of a prompt: always the alerts, and the brief with a session's first and once an interval."""
    await service.turns.settle(inputs.session)
    here, _ = await in_thread(lambda: _note_session(service, inputs, EpisodeState.BUSY, hurried=True))
    if inputs.human and await in_thread(lambda: note_person_prompt(service, here)):
        context = (await compose_brief_context(service, here, "mod", prompt_text)).context
        return AttachedContext(context=context, carries="brief", bytes=len(context.encode()))
    context = await compose_alerts_context(service, here, "mod")
    return AttachedContext(context=context, carries="alerts" if context else "nothing", bytes=len(context.encode()))


def attached_text(answer: AttachedContext) -> str:
    """The context."""
    return answer.context
