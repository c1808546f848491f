"""The state section: the asking session's episode and task."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from brief.core.model.brief import Row, StateSection, Status
from brief.core.model.level import Level
from brief.core.model.section_data import EpisodeFact, StateData, TaskFact
from brief.core.policy.settings import Settings
from brief.core.sessions.episode import KnownEpisode
from brief.core.sessions.task import Task, believable_next, is_ageing
from brief.core.text.sanitize import ago, clean
from brief.core.wakes.rules import MINUTE, WakeStatus, rules_of_policy, wake_status
from brief.sections.context import SectionContext, SectionQuery, own_episode


def answer(context: SectionContext, query: SectionQuery) -> StateSection:
    """The asking episode and its task. If several episodes are open and none was named, their number."""
    now = context.now()
    own = own_episode(context, query)
    here = len(context.sessions.open_ids_at(query.checkout))
    task = context.sessions.tasks().get(own.episode.id) if own else None
    fact = _task_fact(task, now, query.settings) if task else None
    wakes = _find_wakes(context, own, query)
    gap = _find_gap(context)
    return StateSection(
        status=Status.READ if gap is None else Status.PARTIAL,
        reason=gap,
        headline=_make_headline(own, fact, here, query, now),
        rows=(
            *_follow_up_rows(context, own),
            *_client_rows(context, own, now),
            *_make_rows(own, task, fact, query, now),
            *_wake_rows(wakes, query, now),
            *_trust_rows(context, own, query),
        ),
        data=StateData(
            episode=_episode_fact(own) if own else None,
            open=here,
            task=fact,
            wakes=_NO_WAKE.get(wakes.status),
            woken=own is not None and wakes.status is WakeStatus.ON and _is_wakeable(context, own, query),
        ),
        as_of=now,
    )


def _find_gap(context: SectionContext) -> str | None:
    """Why this may not be all, or not be stored."""
    loss = context.sessions.loss()
    said = f"answered from memory: {loss}" if loss is not None else context.sessions.missing()
    return None if said is None else clean(said, 600)


_MOST_CLIENTS = 3

_NO_WAKE: Mapping[WakeStatus, Literal["paused", "limit", "stopped"]] = {
    WakeStatus.PAUSED: "paused",
    WakeStatus.LIMIT: "limit",
    WakeStatus.STOPPED: "stopped",
}


class _Wakes(NamedTuple):
    """The wake status of the episode, and since when its wakes are paused."""

    status: WakeStatus
    paused_since: datetime | None


def _find_wakes(context: SectionContext, own: KnownEpisode | None, query: SectionQuery) -> _Wakes:
    wake_state = context.sessions.wake_state(own.episode.id) if own else None
    if wake_state is None:
        return _Wakes(WakeStatus.ON, None)
    return _Wakes(wake_status(wake_state.cadence, rules_of_policy(query.settings, MINUTE)), wake_state.paused_since)


def _wake_rows(wakes: _Wakes, query: SectionQuery, now: datetime) -> tuple[Row, ...]:
    """Why the session is not woken, and how that ends."""
    if wakes.status is WakeStatus.PAUSED and wakes.paused_since is not None:
        return (Row(text=f"wakes paused {ago(now - wakes.paused_since)}: majordomus wake resume"),)
    if wakes.status is WakeStatus.LIMIT:
        limit = query.settings.session.wake_limit
        return (
            Row(text=f"wake limit reached: {limit} wakes without a prompt from a person; the next prompt resets it"),
        )
    return ()


def _trust_rows(context: SectionContext, own: KnownEpisode | None, query: SectionQuery) -> tuple[Row, ...]:
    """A row if the policy asks for a brief on an interval but trust is missing."""
    if own is None or not query.settings.session.brief_on_interval or not context.untrusted(own.episode.id):
        return ()
    return (
        Row(
            text="not woken here: its mod or hooks are installed for the user, not for this project alone; majordomus trust allows it"
        ),
    )


def _is_wakeable(context: SectionContext, own: KnownEpisode, query: SectionQuery) -> bool:
    """Whether the policy asks for wakes, and the session's client has a channel that may deliver them."""
    return (
        query.settings.session.brief_on_interval
        and context.has_channel(own.episode.id)
        and not context.untrusted(own.episode.id)
    )


def _follow_up_rows(context: SectionContext, own: KnownEpisode | None) -> tuple[Row, ...]:
    """A row for each thing that this session waited for and that is now done."""
    follow_ups = context.sessions.follow_ups(own.episode.id) if own else ()
    return tuple(Row(text=one.line, level=Level.HIGH, pin="what you wait for is done") for one in follow_ups)


def _client_rows(context: SectionContext, own: KnownEpisode | None, now: datetime) -> tuple[Row, ...]:
    """A warning if several clients show the session, each with a conversation of its own under the same id."""
    shown = context.sessions.clients(own.episode.id, now) if own else ()
    if len(shown) < 2:
        return ()
    where = ", ".join(f"process {client.pid} in {clean(client.checkout, 80)}" for client in shown[:_MOST_CLIENTS])
    text = f"open in {len(shown)} clients, {where}; only the first is woken, and they share no context: end all but one"
    return (Row(text=text, level=Level.HIGH, pin="this session is open in several clients"),)


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


def _make_headline(
    own: KnownEpisode | None, fact: TaskFact | None, here: int, query: SectionQuery, now: datetime
) -> str:
    if fact is not None:
        return f"{clean(fact.title)}, begun {ago(now - fact.since)}"
    if own is not None:
        return f"episode {clean(own.episode.id)} has no task"
    if query.session is not None:
        return f"session {clean(query.session, 60)} has no open episode"
    if here == 0:
        return "no episode is open in this checkout"
    return f"{here} episodes are open in this checkout, and the request did not say which one asks"


def _make_rows(
    own: KnownEpisode | None, task: Task | None, fact: TaskFact | None, query: SectionQuery, now: datetime
) -> tuple[Row, ...]:
    texts: list[str] = []
    if own is not None and own.episode.checkout != query.checkout:
        texts.append(f"this episode was opened in {clean(own.episode.checkout)}")
    if task is not None and fact is not None:
        if fact.scope:
            texts.append("scope " + ", ".join(clean(path, 80) for path in fact.scope))
        if fact.next is not None:
            ageing = is_ageing(task, now, timedelta(minutes=query.settings.session.freshness.fresh_minutes))
            aged = f" (said {ago(now - task.next_since)})" if ageing and task.next_since else ""
            texts.append(f"next: {clean(fact.next, 300)}{aged}")
        if fact.next_withheld is not None:
            texts.append(f"next action withheld: {fact.next_withheld}")
    return tuple(Row(text=text) for text in texts)
