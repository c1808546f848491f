"""The caller's own episode and task."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from brief.core.model.brief import EpisodeFact, Row, StateData, StateSection, Status, TaskFact
from brief.core.model.level import Level
from brief.core.policy.settings import Settings
from brief.core.sessions.episode import KnownEpisode
from brief.core.sessions.task import Task, believable_next, is_ageing
from brief.core.text.sanitize import ago, clean
from brief.core.wakes.rules import MINUTE, WakeStatus, rules, wake_status
from brief.sections.context import SectionContext, SectionQuery, own_episode


def answer(context: SectionContext, query: SectionQuery) -> StateSection:
    """Who asks and what it works on; with several open episodes and none named, how many there are."""
    now = context.now()
    own = own_episode(context, query)
    here = len(context.sessions.at(query.checkout))
    task = context.sessions.tasks().get(own.episode.id) if own else None
    fact = _task_fact(task, now, query.settings) if task else None
    kept = _kept(context, own, query)
    loss = context.sessions.loss()
    return StateSection(
        status=Status.READ if loss is None else Status.PARTIAL,
        reason=None if loss is None else clean(f"told from memory: {loss}", 600),
        headline=_headline(own, fact, here, query, now),
        rows=(
            *_owed(context, own),
            *_clients(context, own, now),
            *_rows(own, task, fact, query, now),
            *_wake_rows(kept, query, now),
            *_untrusted(context, own, query),
        ),
        data=StateData(
            episode=_episode_fact(own) if own else None,
            open=here,
            task=fact,
            wakes=_KEEPS.get(kept.stands),
            woken=own is not None and kept.stands is WakeStatus.ON and _is_reached(context, own, query),
        ),
        as_of=now,
    )


_MOST_CLIENTS = 3

_KEEPS: Mapping[WakeStatus, Literal["paused", "limit", "stopped"]] = {
    WakeStatus.PAUSED: "paused",
    WakeStatus.LIMIT: "limit",
    WakeStatus.STOPPED: "stopped",
}


class _Kept(NamedTuple):
    """How the wakes of the episode stand, and since when they are paused."""

    stands: WakeStatus
    since: datetime | None


def _kept(context: SectionContext, own: KnownEpisode | None, query: SectionQuery) -> _Kept:
    waking = context.sessions.waking(own.episode.id) if own else None
    if waking is None:
        return _Kept(WakeStatus.ON, None)
    return _Kept(wake_status(waking.cadence, rules(query.settings, MINUTE)), waking.paused_since)


def _wake_rows(kept: _Kept, query: SectionQuery, now: datetime) -> tuple[Row, ...]:
    """What keeps the session from being woken, and what ends that."""
    if kept.stands is WakeStatus.PAUSED and kept.since is not None:
        return (Row(text=f"wakes paused {ago(now - kept.since)}: majordomus wake resume"),)
    if kept.stands is WakeStatus.LIMIT:
        limit = query.settings.session.wake_limit
        return (
            Row(text=f"wake limit reached: {limit} with no prompt of a person between; the next prompt begins anew"),
        )
    return ()


def _untrusted(context: SectionContext, own: KnownEpisode | None, query: SectionQuery) -> tuple[Row, ...]:
    """That a brief on an interval is wanted and does not come."""
    if own is None or not query.settings.session.brief_on_interval or not context.untrusted(own.episode.id):
        return ()
    return (
        Row(
            text="not woken here: its mod or hooks are installed for the user, or not for this project alone; majordomus trust allows it"
        ),
    )


def _is_reached(context: SectionContext, own: KnownEpisode, query: SectionQuery) -> bool:
    """Whether the policy asks for wakes and there is somebody in the session's client who takes them, and may."""
    return (
        query.settings.session.brief_on_interval
        and context.has_channel(own.episode.id)
        and not context.untrusted(own.episode.id)
    )


def _owed(context: SectionContext, own: KnownEpisode | None) -> tuple[Row, ...]:
    """What others did that this session waits for, each said once."""
    owed = context.sessions.follow_ups(own.episode.id) if own else ()
    return tuple(Row(text=one.line, level=Level.HIGH, pin="what you wait for is done") for one in owed)


def _clients(context: SectionContext, own: KnownEpisode | None, now: datetime) -> tuple[Row, ...]:
    """That several clients show the session: each has a conversation of its own under the one id."""
    shown = context.sessions.clients(own.episode.id, now) if own else ()
    if len(shown) < 2:
        return ()
    where = ", ".join(f"process {client.pid} in {clean(client.checkout, 80)}" for client in shown[:_MOST_CLIENTS])
    told = (
        f"open in {len(shown)} clients, {where}; the first is woken, none knows what another is told: end all but one"
    )
    return (Row(text=told, level=Level.HIGH, pin="this session is open in several clients"),)


def _episode_fact(own: KnownEpisode) -> EpisodeFact:
    episode = own.episode
    return EpisodeFact(
        id=episode.id,
        provider=episode.provider,
        state=own.state,
        checkout=episode.checkout,
        branch=episode.branch,
        since=episode.since,
        heard=episode.heard,
        liveness=own.liveness,
    )


def _task_fact(task: Task, now: datetime, settings: Settings) -> TaskFact:
    following = believable_next(task, now, timedelta(minutes=settings.session.freshness.stale_minutes))
    return TaskFact(
        title=task.title,
        scope=task.scope,
        since=task.since,
        next=following.text,
        next_since=task.next_since,
        next_withheld=following.withheld,
    )


def _headline(own: KnownEpisode | None, fact: TaskFact | None, here: int, query: SectionQuery, now: datetime) -> str:
    if fact is not None:
        return f"{clean(fact.title)}, begun {ago(now - fact.since)}"
    if own is not None:
        return f"episode {clean(own.episode.id)} has no task"
    if query.session is not None:
        return f"session {clean(query.session, 60)} has no open episode"
    if here == 0:
        return "no episode is open in this checkout"
    return f"{here} episodes are open in this checkout, and which one asks was not said"


def _rows(
    own: KnownEpisode | None, task: Task | None, fact: TaskFact | None, query: SectionQuery, now: datetime
) -> tuple[Row, ...]:
    said: list[str] = []
    if own is not None and own.episode.checkout != query.checkout:
        said.append(f"this episode was opened in {clean(own.episode.checkout)}")
    if task is not None and fact is not None:
        if fact.scope:
            said.append("scope " + ", ".join(clean(path, 80) for path in fact.scope))
        if fact.next is not None:
            ageing = is_ageing(task, now, timedelta(minutes=query.settings.session.freshness.fresh_minutes))
            aged = f" (said {ago(now - task.next_since)})" if ageing and task.next_since else ""
            said.append(f"next: {clean(fact.next, 300)}{aged}")
        if fact.next_withheld is not None:
            said.append(f"next action withheld: {fact.next_withheld}")
    return tuple(Row(text=text) for text in said)
