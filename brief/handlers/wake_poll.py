"""The polling of the process that waits beside an idle session, for clients that have hooks and no mod."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from msgspec import Meta

from brief.core.model.errors import RepositoryError
from brief.core.model.section_data import EpisodeState
from brief.core.model.wire import Moment, Wire
from brief.core.sessions.episode import Episode, is_of_another
from brief.core.wakes.rules import Rules
from brief.core.wakes.state import WakeState
from brief.handlers.episodes import OpenInputs, open_in_checkout
from brief.handlers.heartbeat import ClientInputs
from brief.handlers.outbox import PromptToSubmit, due_at, hand_out_prompt
from brief.handlers.waking import rules_for
from brief.request import RequestContext
from brief.service import RepositoryService
from brief.sessions.activity import Scope
from brief.sessions.channel_scope import scope_of_hook
from brief.sessions.client_records import client_folder
from brief.support.daemon_threads import in_thread
from brief.support.schedule_clock import one_minute

ASKS_A_MINUTE = 60
"""How often the process polls at most. It polls at least once a minute, so that its session stays heard."""


class PollInputs(ClientInputs, frozen=True, kw_only=True):
    """A waiting process, and the place of the hook that started it."""

    since: Annotated[float, Meta(ge=0, lt=1e15, description="when the process began, by the clock that is never set")]
    scope: Annotated[Scope, Meta(description="whose settings declare the hook, by its own words")] = "user"
    project: Annotated[str, Meta(max_length=4_096, description="the folder whose settings the client reads")] | None = (
        None
    )
    config: Annotated[str, Meta(max_length=4_096, description="the person's own folder of the client")] | None = None
    process_start: (
        Annotated[
            int, Meta(ge=0, description="when the process of the client began, in ticks since the start of the machine")
        ]
        | None
    ) = None

    @property
    def client(self) -> str:
        """The identity of the client: a client shows one session at a time, but two clients may show the same session."""
        return self.session if self.process_start is None else f"process {self.pid} of {self.process_start}"


class PollAnswer(Wire, frozen=True):
    """The prompt that wakes the session, or when to poll again. If both are null the process ends; `reason` says why.

    `ensures` says whether the process may start a server if this one is gone.
    """

    at: Moment
    prompt: PromptToSubmit | None
    again_seconds: float | None
    ensures: bool
    reason: str | None


async def answer_poll(service: RepositoryService, inputs: PollInputs) -> PollAnswer:
    """Hand out the waiting prompt of an idle session, or say when to poll again."""
    here = await in_thread(lambda: service.request_context(inputs.root, inputs.session))
    episode = await in_thread(lambda: service.board.find_episode(inputs.session))
    over = _why_over(service, inputs, episode)
    if over is not None:
        return PollAnswer(at=service.now(), prompt=None, again_seconds=None, ensures=False, reason=over)
    if episode is None or not episode.is_open:
        await _open_idle(service, inputs)
    service.activity.note_channel(inputs.session, await in_thread(lambda: _find_scope(service, inputs, here)))
    rules, off = rules_for(service, here, inputs.session)
    wake_state, prompt = await hand_out_prompt(
        service, here, rules, await _find_state(service, inputs.session), draft=False
    )
    return PollAnswer(
        at=service.now(),
        prompt=prompt,
        again_seconds=None if prompt else _seconds_to_next_poll(service, wake_state, rules),
        ensures=rules.on and here.query.settings.session.ensure_server_on_start,
        reason=off,
    )


def poll_text(answer: PollAnswer) -> str:
    """The prompt, or the reason why there is none."""
    return answer.prompt.text if answer.prompt else f"{answer.reason or 'nothing is due'}\n"


def _find_scope(service: RepositoryService, inputs: PollInputs, here: RequestContext) -> Scope:
    """The scope of the hook: the project's only if the files of the client prove it. Blocks on files."""
    try:
        project = service.checkout_config(inputs.project).here.root if inputs.project else here.here.root
    except RepositoryError:
        return "user"
    own = [client_folder(), *([inputs.config] if inputs.config else [])]
    return scope_of_hook(inputs.scope, own, inputs.project or project)


def _why_over(service: RepositoryService, inputs: PollInputs, episode: Episode | None) -> str | None:
    """Why the process need not wait any longer. None if it must."""
    if service.activity.is_served(inputs.session, service.now()):
        return "a mod of the client serves this session"
    if not service.activity.note_waiting(inputs.client, inputs.since):
        return "a process that started later waits beside this client"
    if episode is None or is_of_another(episode, inputs.pid):
        return None
    now = service.board.wakes.instant(service.now())
    began = now.wall - timedelta(seconds=(now.steady or inputs.since) - inputs.since)
    if episode.closed is not None and episode.closed > began:
        return "the session was closed while it waited"
    return None


async def _open_idle(service: RepositoryService, inputs: PollInputs) -> None:
    """Open a session as idle: the process starts when a session begins or becomes idle."""
    idle = EpisodeState.IDLE
    said = OpenInputs(root=inputs.root, session=inputs.session, provider=inputs.provider, state=idle, pid=inputs.pid)
    await in_thread(lambda: open_in_checkout(service, service.request_context(inputs.root), said))


async def _find_state(service: RepositoryService, session: str) -> EpisodeState:
    """The state of the session: idle only if its hooks report that, and the records of its client agree."""
    reported = next(
        (one.state for one in service.board.open_episodes() if one.episode.id == session), EpisodeState.UNKNOWN
    )
    if reported is not EpisodeState.IDLE:
        return reported
    recorded = await in_thread(service.context.seen)
    return next((one.state for one in recorded.sessions if one.id == session), reported)


def _seconds_to_next_poll(service: RepositoryService, wake_state: WakeState, rules: Rules) -> float:
    """The seconds until the next poll: just after a wake is due, and within a minute.

    A waiting wake does not shorten this: a busy session cannot take it, and the end of its turn starts another process.
    """
    now = service.now()
    due = due_at(wake_state, rules, service.board.wakes.instant(now)) if wake_state.prompt is None else None
    left = one_minute() if due is None else max(timedelta(0), due - now) + one_minute() / ASKS_A_MINUTE
    return min(left, one_minute()).total_seconds()
