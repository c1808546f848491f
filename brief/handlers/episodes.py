"""Open, close and list episodes."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated, ClassVar

from msgspec import Meta

from brief.core.model.errors import UsageError
from brief.core.model.section_data import EpisodeState
from brief.core.model.wire import Moment, Wire
from brief.core.sessions.episode import Episode, KnownEpisode
from brief.core.sessions.life import MOST_CLOSED
from brief.core.text.sanitize import ago, clean, elapsed
from brief.handlers.inputs import Inputs, SessionInputs
from brief.handlers.succession import find_predecessor, hand_over_notices
from brief.request import RequestContext
from brief.sections.episode_meant import find_meant
from brief.service import RepositoryService
from brief.sessions.handover import leave
from brief.sessions.processes import find_process, has_no_process
from brief.support.daemon_threads import in_thread

UNKNOWN_PROVIDER = "unknown"
"""The provider of an episode if none was named. It never replaces a known one."""


class OpenInputs(SessionInputs, frozen=True, kw_only=True):
    """The episode to open."""

    may_abbreviate_session: ClassVar[bool] = False

    provider: Annotated[
        str,
        Meta(max_length=40, description="coding agent that runs the session, such as claude-code (default: unknown)"),
    ] = UNKNOWN_PROVIDER
    state: Annotated[EpisodeState, Meta(description="what the session is doing now (default: unknown)")] = (
        EpisodeState.UNKNOWN
    )
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


class CloseInputs(SessionInputs, frozen=True, kw_only=True):
    """The episode to close."""

    reason: Annotated[
        str, Meta(min_length=1, max_length=200, description="why the episode ends (default: closed by command)")
    ] = "closed by command"
    pid: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=2**31 - 1,
                description="process number of the client that ends it; the episode stays open if another client also shows it",
            ),
        ]
        | None
    ) = None


class ListInputs(Inputs, frozen=True, kw_only=True):
    """Which episodes to list."""

    closed: Annotated[bool, Meta(description=f"also list the {MOST_CLOSED} most recently closed episodes")] = False


class OneEpisode(Wire, frozen=True):
    """An episode after a command."""

    episode: Episode


class Episodes(Wire, frozen=True):
    """Every open episode of the repository, and the ones closed last where they were asked for.

    `reason` is why open ones may be missing.
    """

    at: Moment
    open: tuple[KnownEpisode, ...]
    closed: tuple[Episode, ...]
    reason: str | None = None

    @property
    def fully_read(self) -> bool:
        """Whether no open episode can be missing."""
        return self.reason is None


async def open_episode(service: RepositoryService, inputs: OpenInputs) -> OneEpisode:
    """Open an episode in the checkout. Without an id it gets a new UUID. Raises UsageError if its process does not exist."""
    if inputs.pid is not None and has_no_process(inputs.pid):
        raise UsageError(
            f"pid {inputs.pid}: no process has this number where the server runs; give that of one that runs there, or "
            "leave out --pid, and the episode stays open until it is closed or not heard for seven days"
        )
    return await in_thread(lambda: open_in_checkout(service, service.request_context(inputs.root), inputs))


def open_in_checkout(
    service: RepositoryService, request: RequestContext, inputs: OpenInputs, *, takes_over: bool = False
) -> OneEpisode:
    """Open an episode in the checkout of the request. Blocks on the database.

    A new session continues what another one left in the same client. `takes_over` means that the client said so.
    """
    session = str(uuid.uuid4()) if inputs.session is None else inputs.session
    process = find_process(inputs.pid) if inputs.pid is not None else None
    recorded = None if inputs.session is None else service.board.find_episode(session)
    before = None
    if takes_over or (inputs.session is not None and recorded is None):
        before = find_predecessor(service, session, process, takes_over=takes_over)
    known = service.board.open(
        session,
        provider=recorded.provider if recorded and inputs.provider == UNKNOWN_PROVIDER else inputs.provider,
        checkout=request.query.checkout,
        branch=request.repository.branch,
        process=process,
        state=inputs.state,
        now=service.now(),
        goes_on_from=before,
    )
    if before is not None:
        hand_over_notices(service, request.notice_folders)
    return OneEpisode(episode=known.episode)


async def close_episode(service: RepositoryService, inputs: CloseInputs) -> OneEpisode:
    """Close an episode."""

    def work() -> OneEpisode:
        meant = find_meant(service.context, service.request_context(inputs.root, inputs.session).query)
        reason, now = clean(inputs.reason), service.now()
        if inputs.pid is None:
            return OneEpisode(episode=service.board.close(meant, reason, now))
        return OneEpisode(episode=leave(service.board, meant, inputs.pid, reason, now))

    return await in_thread(work)


async def list_episodes(service: RepositoryService, inputs: ListInputs) -> Episodes:
    """List the episodes of every checkout of the repository."""

    def work() -> Episodes:
        service.request_context(inputs.root)
        closed = service.board.closed_episodes(MOST_CLOSED) if inputs.closed else ()
        reason = service.board.loss() or service.board.missing()
        return Episodes(at=service.now(), open=service.board.open_episodes(), closed=closed, reason=reason)

    return await in_thread(work)


def one_text(answer: OneEpisode) -> str:
    """The state of the episode, in one line."""
    episode = answer.episode
    place = f"{clean(episode.checkout, 400)}{' on ' + clean(episode.branch, 80) if episode.branch else ''}"
    if episode.is_open:
        return f"episode {episode.id} is open in {place}\n"
    return f"episode {episode.id} in {place} is closed: {clean(episode.closed_reason or '')}\n"


def list_text(answer: Episodes) -> str:
    """A line for each open episode, in the order of the board, then the closed ones, latest first."""
    count = len(answer.open)
    hint = "" if count else "; majordomus episode open opens one"
    lines = [f"{count} episode{' is' if count == 1 else 's are'} open in this repository{hint}"]
    lines += [_episode_line(one.episode, one.state, one.liveness, answer.at) for one in answer.open]
    lines += [
        f"  {e.id}  closed {ago(answer.at - e.closed)}: {clean(e.closed_reason or '')}"
        for e in answer.closed
        if e.closed
    ]
    lines += [f"Not read in full: {clean(answer.reason, 600)}"] if answer.reason else []
    return "\n".join(lines) + "\n"


def _episode_line(episode: Episode, state: EpisodeState, liveness: str, at: datetime) -> str:
    activity = {"unheard": "unheard since the server started", "silent": "silent"}.get(liveness, state.value)
    where = f"{clean(episode.checkout, 400)}{' on ' + clean(episode.branch, 80) if episode.branch else ''}"
    times = f"open {elapsed(at - episode.since)}, heard {ago(at - episode.heard)}"
    return f"  {episode.id}  {clean(episode.provider, 40)}  {activity}  {where}  {times}"
