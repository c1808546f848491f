"""List, pause and resume the wakes of sessions, and wake one at once. None of this costs a turn of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from brief.core.model.errors import ConflictError, MajordomusError
from brief.core.model.section_data import EpisodeState
from brief.core.model.wire import Moment, Wire
from brief.core.sessions.episode import Episode, KnownEpisode
from brief.core.text.sanitize import ago, clean, elapsed, span
from brief.core.wakes.rules import WakeStatus, wake_status
from brief.core.wakes.state import (
    Change,
    WakeState,
    change_nothing,
    queue_prompt,
    record_person_prompt,
    withdraw_prompt,
)
from brief.handlers.inputs import Inputs, SessionInputs
from brief.handlers.outbox import due_at
from brief.handlers.waking import compose_wake, rules_for, rules_of
from brief.request import RequestContext
from brief.sections.episode_meant import find_meant
from brief.service import RepositoryService
from brief.sessions.wakes import LedgerLine
from brief.support.daemon_threads import in_thread


class WakesInputs(Inputs, frozen=True, kw_only=True):
    """The wakes of every open session of the repository."""

    counts: Annotated[bool, Meta(description="also show the counts of each session: wakes, skips, and briefs read")] = (
        False
    )


class PauseInputs(SessionInputs, frozen=True, kw_only=True):
    """The session whose wakes are paused or resumed, or the whole repository."""

    repository: Annotated[
        bool, Meta(description="apply to every session of the repository, whichever session is named")
    ] = False


class WakeInputs(SessionInputs, frozen=True, kw_only=True):
    """The session to wake."""


class WaitingWake(Wire, frozen=True):
    """The prompt in an outbox. `offered` is when a client took it; its outcome is not known yet."""

    id: str
    composed: Moment
    offered: Moment | None


class SessionWakes(Wire, frozen=True, kw_only=True):
    """The wakes of one open session.

    `reason` says why it is not woken, and `waits_for` what a wake in its outbox waits for. `unprompted` counts the wakes
    since the last prompt of a person. `ledger` is null unless it was requested.
    """

    session: str
    provider: str
    checkout: str
    state: EpisodeState
    task: str | None
    status: WakeStatus
    reason: str | None
    due: Moment | None
    waiting: WaitingWake | None
    waits_for: str | None
    unprompted: int
    briefed: Moment | None
    ledger: tuple[LedgerLine, ...] | None


class AllWakes(Wire, frozen=True, kw_only=True):
    """The wakes of every open session. `paused` is since when the whole repository is, `meant` the session asked about."""

    at: Moment
    paused: Moment | None
    meant: str | None = None
    sessions: tuple[SessionWakes, ...]


# ---------------------------------------------------------------- list


async def list_wakes(service: RepositoryService, inputs: WakesInputs) -> AllWakes:
    """List the wakes of every open session."""

    def work() -> AllWakes:
        service.request_context(inputs.root)
        return _list_all(service, counts=inputs.counts)

    return await in_thread(work)


def _list_all(service: RepositoryService, meant: str | None = None, *, counts: bool = False) -> AllWakes:
    wake_states, now, paused = service.board.wakes.open(), service.now(), service.board.wakes.all_paused()
    sessions = (_list_one(service, one, wake_states, paused, counts=counts) for one in service.board.open_episodes())
    return AllWakes(at=now, paused=paused, meant=meant, sessions=tuple(sessions))


def _list_one(
    service: RepositoryService,
    known: KnownEpisode,
    wake_states: Mapping[str, WakeState],
    paused: datetime | None,
    *,
    counts: bool,
) -> SessionWakes:
    episode, task = known.episode, service.board.tasks().get(known.episode.id)
    nothing = WakeState(anchor=service.board.wakes.instant(service.now()), all_paused=paused)
    try:
        wake_state = wake_states.get(episode.id) or service.board.wake_state(episode.id) or nothing
        status, reason, due = _find_status(service, episode, wake_state)
    except MajordomusError as fault:
        wake_state, status, reason, due = nothing, WakeStatus.OFF, fault.sentence, None
    prompt = wake_state.prompt
    return SessionWakes(
        session=episode.id,
        provider=episode.provider,
        checkout=episode.checkout,
        state=known.state,
        task=task.title if task else None,
        status=status,
        reason=reason,
        due=due,
        waiting=WaitingWake(id=prompt.id, composed=prompt.composed, offered=prompt.offered) if prompt else None,
        waits_for=_waits_for(service, known) if prompt and not prompt.offered else None,
        unprompted=wake_state.unprompted,
        briefed=wake_state.briefed,
        ledger=service.board.wakes.ledger(episode.id) if counts else None,
    )


def _waits_for(service: RepositoryService, known: KnownEpisode) -> str:
    """What the wake in the outbox of a session waits for."""
    channel = service.activity.channel(known.episode.id)
    if channel is None:
        return "a mod or a hook of its client, none of which has asked yet"
    if known.state is EpisodeState.BUSY:
        return "the end of its turn"
    if known.state is EpisodeState.WAITING:
        return "the person to answer"
    return "the draft in its box to be sent or removed" if channel.draft else "its next heartbeat"


def _find_status(
    service: RepositoryService, episode: Episode, wake_state: WakeState
) -> tuple[WakeStatus, str | None, datetime | None]:
    request = service.request_context(episode.checkout, episode.id)
    rules, off = rules_for(service, request, episode.id)
    status = wake_status(wake_state.cadence, rules)
    reasons = {
        WakeStatus.ON: None,
        WakeStatus.OFF: off,
        WakeStatus.PAUSED: "majordomus wake resume ends that",
        WakeStatus.LIMIT: f"{rules.limit} wakes without a prompt from a person; the next prompt resets the count",
        WakeStatus.STOPPED: "the person pressed Esc; their next prompt ends that",
    }
    return status, reasons[status], due_at(wake_state, rules, service.board.wakes.instant(service.now()))


def wakes_text(answer: AllWakes) -> str:
    """A line for each session, or for the one that was asked about, with its ledger below."""
    paused = f"; all are paused, since {elapsed(answer.at - answer.paused)}" if answer.paused else ""
    count, listed = len(answer.sessions), [one for one in answer.sessions if answer.meant in (None, one.session)]
    lines = [f"{count} episode{' is' if count == 1 else 's are'} open in this repository{paused}"]
    for one in listed:
        lines += [
            f"- {_describe_session(one)}: {_describe_wakes(one, answer.at)}",
            *(f"    {_describe_count(line)}" for line in one.ledger or ()),
        ]
    return "\n".join(lines if answer.meant is None else lines[1:]) + "\n"


def paused_text(answer: AllWakes) -> str:
    """What was done and how to undo it, then the wakes."""
    option = "" if answer.meant else " --repository"
    return f"paused: no wake is queued until majordomus wake resume{option}\n{wakes_text(answer)}"


def resumed_text(answer: AllWakes) -> str:
    """What was done, then the wakes, which may still be off for another reason."""
    return f"resumed: {'this session is' if answer.meant else 'sessions are'} no longer paused\n{wakes_text(answer)}"


def _describe_session(one: SessionWakes) -> str:
    """The session, with its checkout and state first, as in the peers section."""
    state = "state unknown" if one.state is EpisodeState.UNKNOWN else str(one.state)
    provider = "" if one.provider == "unknown" else f"{clean(one.provider, 40)} "
    task = f", {clean(one.task, 60)}" if one.task else ""
    return f"{clean(one.checkout.rpartition('/')[2], 60)}, {state}{task} ({provider}{clean(one.session[:8])})"


def _describe_wakes(one: SessionWakes, at: datetime) -> str:
    if one.waiting is not None:
        since = ago(at - one.waiting.composed)
        return (
            f"a wake of {since} is with its client"
            if one.waiting.offered
            else f"a wake of {since} waits for {one.waits_for}"
        )
    if one.due is not None:
        return f"woken next in {span(one.due - at)}"
    return f"{one.status}: {clean(one.reason or '', 400)}"


def _describe_count(line: LedgerLine) -> str:
    size = f", {line.size:,} bytes" if line.size else ""
    return f"{line.kind} {clean(line.detail)}: {line.count}{size}"


# ---------------------------------------------------------------- pause, resume, now


async def pause_wakes(service: RepositoryService, inputs: PauseInputs) -> AllWakes:
    """Pause the wakes of a session, or of the whole repository. A waiting prompt is withdrawn."""

    def everybody() -> None:
        service.board.wakes.pause_all(service.now())
        for session in service.board.wakes.open():
            service.board.wakes.change(
                session, service.now(), lambda wake_state: withdraw_prompt(wake_state, WakeStatus.PAUSED)
            )

    def pause(wake_state: WakeState) -> Change:
        after, entries = withdraw_prompt(wake_state, WakeStatus.PAUSED)
        return replace(after, paused=wake_state.paused or service.now()), entries

    return await _change_wakes(service, inputs, everybody, pause)


async def resume_wakes(service: RepositoryService, inputs: PauseInputs) -> AllWakes:
    """Resume the wakes of a session, or of the whole repository but for sessions that were paused individually."""

    def resume(wake_state: WakeState) -> Change:
        return replace(wake_state, paused=None), ()

    return await _change_wakes(service, inputs, service.board.wakes.resume_all, resume)


async def _change_wakes(
    service: RepositoryService, inputs: PauseInputs, everybody: Callable[[], None], one: Callable[[WakeState], Change]
) -> AllWakes:
    def work() -> AllWakes:
        query = service.request_context(inputs.root, inputs.session).query
        if inputs.repository:
            everybody()
            return _list_all(service)
        meant = find_meant(service.context, query)
        service.board.wakes.change(meant, service.now(), one, durable=True)
        return _list_all(service, meant)

    return await in_thread(work)


async def wake_now(service: RepositoryService, inputs: WakeInputs) -> AllWakes:
    """Put a prompt into the outbox of a session now. Since a person asks for it, this resets the wake limit and an Esc."""
    request = await in_thread(lambda: _request_for_meant(service, inputs))
    session = request.query.session or ""
    wake_state, _ = await in_thread(lambda: service.board.wakes.change(session, service.now(), change_nothing))
    _refuse(service, wake_state, request)
    prompt = await compose_wake(service, request)

    def queue(wake_state: WakeState) -> Change:
        _refuse(service, wake_state, request)
        return queue_prompt(
            record_person_prompt(wake_state)[0],
            prompt,
            0,
            rules_of(request),
            service.board.wakes.instant(service.now()),
        )

    def work() -> AllWakes:
        service.board.wakes.change(session, service.now(), queue, durable=True)
        return _list_all(service, session)

    return await in_thread(work)


def _request_for_meant(service: RepositoryService, inputs: WakeInputs) -> RequestContext:
    """The context of a request for the episode that is meant, at the checkout where it is open."""
    meant = find_meant(service.context, service.request_context(inputs.root, inputs.session).query)
    episode = service.board.require_open(meant)
    return service.request_context(episode.checkout, meant)


def _refuse(service: RepositoryService, wake_state: WakeState, request: RequestContext) -> None:
    """Raise ConflictError if the session must not be woken."""
    _, off = rules_for(service, request, request.query.session or "")
    if off is not None:
        raise ConflictError(f"nobody is woken here: {off}")
    if wake_state.paused_since is not None:
        raise ConflictError("its wakes are paused; majordomus wake resume ends that")
    if wake_state.prompt is not None:
        raise ConflictError("a wake is waiting for it already; a second one is never queued meanwhile")
