"""What the process asks that waits beside an idle session, where a client has hooks and no mod."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from brief.core.model.brief import EpisodeState
from brief.core.model.errors import RepositoryError
from brief.core.model.wire import Moment, Wire
from brief.core.sessions.episode import Episode, is_of_another
from brief.core.wakes.rules import Rules
from brief.core.wakes.state import WakeState
from brief.handlers.episodes import OpenInputs, opened
from brief.handlers.heartbeat import MindedInputs
from brief.handlers.outbox import PromptToSubmit, due_at, handed_out
from brief.handlers.waking import rules_for
from brief.request import RequestContext
from brief.service import RepositoryService
from brief.sessions.activity import Scope
from brief.sessions.channel_scope import scope_of_hook
from brief.sessions.client_records import client_folder
from brief.support.daemon_threads import in_thread
from brief.support.schedule_clock import minute

ASKS_A_MINUTE = 60
"""How often it asks at most; how often at least is once a minute, so that its session stays heard."""


class WaitInputs(MindedInputs):
    """A process that waits, and where the hook that started it is installed."""

    since: float = Field(
        ge=0, allow_inf_nan=False, description="when the process began, by the clock that is never set"
    )
    scope: Scope = Field(default="user", description="whose settings declare the hook, by its own words")
    project: str | None = Field(
        default=None, max_length=4_096, description="the folder whose settings the client reads"
    )
    config: str | None = Field(default=None, max_length=4_096, description="the person's own folder of the client")
    process_start: int | None = Field(
        default=None, ge=0, description="when the process of the client began, in ticks since the start of the machine"
    )

    @property
    def client(self) -> str:
        """What tells the client from others: one shows one session at a time, and one session may be shown by two."""
        return self.session if self.process_start is None else f"process {self.pid} of {self.process_start}"


class Waited(Wire):
    """The prompt to wake with, or when to ask again; null where the process is to end, and `reason` says why.

    `ensures` is whether it may start a server where this one is gone.
    """

    at: Moment
    prompt: PromptToSubmit | None
    again_seconds: float | None
    ensures: bool
    reason: str | None


async def wait(service: RepositoryService, asked: WaitInputs) -> Waited:
    """Hand out the prompt that waits for an idle session, once, or say when to ask again."""
    here = await in_thread(lambda: service.request_context(asked.root, asked.session))
    episode = await in_thread(lambda: service.board.episode(asked.session))
    over = _over(service, asked, episode)
    if over is not None:
        return Waited(at=service.now(), prompt=None, again_seconds=None, ensures=False, reason=over)
    if episode is None or not episode.is_open:
        await _opened(service, asked)
    service.activity.note_channel(asked.session, await in_thread(lambda: _scope(service, asked, here)))
    rules, off = rules_for(service, here, asked.session)
    wake_state, prompt = await handed_out(service, here, rules, await _state(service, asked.session), draft=False)
    return Waited(
        at=service.now(),
        prompt=prompt,
        again_seconds=None if prompt else _again(service, wake_state, rules),
        ensures=rules.on and here.query.settings.session.ensure_server_on_start,
        reason=off,
    )


def waited_text(answer: Waited) -> str:
    """The prompt, or why there is none."""
    return answer.prompt.text if answer.prompt else f"{answer.reason or 'nothing is due'}\n"


def _scope(service: RepositoryService, asked: WaitInputs, here: RequestContext) -> Scope:
    """Whose hook it is: the project's only where the files of the client show that, whatever is said. Blocks on files."""
    try:
        project = service.checkout_config(asked.project).here.root if asked.project else here.here.root
    except RepositoryError:
        return "user"
    own = [client_folder(), *([asked.config] if asked.config else [])]
    return scope_of_hook(asked.scope, own, asked.project or project)


def _over(service: RepositoryService, asked: WaitInputs, episode: Episode | None) -> str | None:
    """Why the process need not wait any more."""
    if service.activity.is_served(asked.session, service.now()):
        return "a mod of the client minds this session"
    if not service.activity.note_waiting(asked.client, asked.since):
        return "another process waits beside this client, which began later"
    if episode is None or is_of_another(episode, asked.pid):
        return None
    now = service.board.wakes.instant(service.now())
    began = now.wall - timedelta(seconds=(now.steady or asked.since) - asked.since)
    if episode.closed is not None and episode.closed > began:
        return "the session was closed while it waited"
    return None


async def _opened(service: RepositoryService, asked: WaitInputs) -> None:
    """Open the episode of a session that is not open: such a process is started where a session begins or is idle."""
    idle = EpisodeState.IDLE
    said = OpenInputs(root=asked.root, session=asked.session, provider=asked.provider, state=idle, pid=asked.pid)
    await in_thread(lambda: opened(service, service.request_context(asked.root), said))


async def _state(service: RepositoryService, session: str) -> EpisodeState:
    """What the session does: idle only where its hooks say so, and what its client records does not say otherwise."""
    told = next((one.state for one in service.board.known() if one.episode.id == session), EpisodeState.UNKNOWN)
    if told is not EpisodeState.IDLE:
        return told
    recorded = await in_thread(service.context.seen)
    return next((one.state for one in recorded.sessions if one.id == session), told)


def _again(service: RepositoryService, wake_state: WakeState, rules: Rules) -> float:
    """After how many seconds to ask again: just after a wake is due, and within a minute.

    One that waits already is not handed out to a busy session, and the end of its turn starts another process.
    """
    now = service.now()
    due = due_at(wake_state, rules, service.board.wakes.instant(now)) if wake_state.prompt is None else None
    left = minute() if due is None else max(timedelta(0), due - now) + minute() / ASKS_A_MINUTE
    return min(left, minute()).total_seconds()
