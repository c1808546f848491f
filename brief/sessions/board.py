"""The board of a server: its open episodes, kept in memory and written through to the database.

The lease makes this process the only writer, so memory and database agree. An episode that was read from the database
at the start is `unheard` until it calls this very server.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime

from brief.core.model.errors import NotFoundError
from brief.core.model.section_data import EpisodeState, Liveness
from brief.core.notices.follow_up import FollowUp, is_for
from brief.core.sessions.claims import Claim, new_claim
from brief.core.sessions.episode import (
    Client,
    Ended,
    Episode,
    KnownEpisode,
    Process,
    best_known,
    check_id,
    check_provider,
    worth_storing,
)
from brief.core.sessions.life import FOUND, MOST_STORED, Life, in_order, is_silent
from brief.core.sessions.succession import last_heir, succession_reason
from brief.core.sessions.task import Task, check_next, new_task
from brief.core.wakes.state import WakeState
from brief.sessions import claims as claim_rows
from brief.sessions import episodes as rows
from brief.sessions import follow_ups as follow_up_rows
from brief.sessions import inheritance
from brief.sessions.activity import Activity
from brief.sessions.database import Database
from brief.sessions.processes import known_life, stored_life
from brief.sessions.wakes import Wakes


class Board:
    """The open episodes of a repository with their tasks, claims, follow-ups and wakes. Safe to use from any thread.

    Writers wait for each other and for the database. Readers wait only for changes in memory.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writing = threading.Lock()
        self._memory = threading.Lock()
        self._open = {episode.id: episode for episode in rows.open_episodes(database)}
        self._stored = {episode.id: episode.heard for episode in self._open.values()}
        self._tasks = rows.current_tasks(database)
        self._claims = _read_claims(database)
        self._ended = rows.ended_sessions(database, FOUND)
        self._follow_ups = follow_up_rows.waiting_follow_ups(database)
        self._followed_up = follow_up_rows.read_followed_up(database)
        self._successors = inheritance.successors(database)
        self._heard, self._silent = set[str](), set[str]()
        self._cards: dict[str, KnownEpisode] = {}
        self._ordered: dict[str, KnownEpisode] = {}
        self._at: dict[str, list[str]] = {}
        self._ordered_at = -1
        self._watched_since: datetime | None = None
        self._version = 0
        self.comings = 0
        """Grows whenever an episode is opened or closed."""
        self.wakes = Wakes(database)
        self.activity = Activity()
        self.missing, self.forget_losses = self.activity.missing, database.forget_losses

    def loss(self) -> str | None:
        """Why nothing can be stored any more, so that changes are in memory only. None if all is stored."""
        return self._database.find_loss()

    @property
    def version(self) -> int:
        """Grows with every change that a brief could show."""
        return self._version + self.wakes.version

    def wake_state(self, episode_id: str) -> WakeState | None:
        """The state of an episode's wakes. None if nothing has happened to it yet."""
        return self.wakes.get(episode_id)

    def clients(self, episode_id: str, now: datetime) -> tuple[Client, ...]:
        """The clients that show an episode, its owner first. A client that does not report its process is not listed."""
        return self.activity.clients(episode_id, now)

    def open_episodes(self) -> tuple[KnownEpisode, ...]:
        """The open episodes: those that wait for a person first, then the oldest."""
        with self._memory:
            self._order()
            return tuple(self._ordered.values())

    def open_ids_at(self, checkout: str) -> tuple[str, ...]:
        """The ids of the open episodes of a checkout, in the same order."""
        with self._memory:
            self._order()
            return tuple(self._at.get(checkout, ()))

    def _order(self) -> None:
        """Sort the open episodes, unless nothing has changed since they were last sorted."""
        if self._ordered_at == self._version:
            return
        ordered = in_order(self._with_liveness(episode) for episode in self._open.values())
        self._ordered, self._ordered_at = {one.episode.id: one for one in ordered}, self._version
        self._at = defaultdict(list)
        for one in ordered:
            self._at[one.episode.checkout].append(one.episode.id)

    def find_open(self, episode_id: str) -> KnownEpisode | None:
        """The open episode with this id, or None."""
        with self._memory:
            episode = self._open.get(episode_id)
            return None if episode is None else self._with_liveness(episode)

    def tasks(self) -> dict[str, Task]:
        """The current task of each open episode that has one, by episode id."""
        with self._memory:
            return dict(self._tasks)

    def life_of(self, episode_id: str) -> Life:
        """Whether a session, or the one that took over from it, is alive. GONE if it is closed, UNKNOWN if it is not stored."""
        episode_id = last_heir(episode_id, self.successors()) or episode_id
        known = self.find_open(episode_id)
        if known is not None:
            return known_life(known)
        return stored_life(rows.get_episode(self._database, episode_id))

    def claims(self) -> tuple[Claim, ...]:
        """Every claim that is held, oldest first."""
        with self._memory:
            return tuple(sorted(self._claims.values(), key=lambda claim: (claim.since, claim.episode, claim.name)))

    def find_episode(self, episode_id: str) -> Episode | None:
        """The episode with this id, open or closed."""
        with self._memory:
            known = self._open.get(episode_id)
        return known or rows.get_episode(self._database, episode_id)

    def closed_episodes(self, most: int) -> tuple[Episode, ...]:
        """The last `most` closed episodes, latest first."""
        return rows.closed_episodes(self._database, most)

    def follow_ups(self, episode_id: str) -> tuple[FollowUp, ...]:
        """The follow-ups that are owed to an open episode and not delivered yet, oldest first."""
        with self._memory:
            episode = self._open.get(episode_id) if self._follow_ups else None
            ids = frozenset(self._open) if episode else frozenset()
            return tuple(one for one in self._follow_ups if episode and is_for(one, episode.id, episode.checkout, ids))

    def is_fix_followed_up(self, key: str) -> bool:
        """Whether the fix with this key has had its follow-up, and was not reopened since."""
        with self._memory:
            return key in self._followed_up

    def reopen_fix(self, key: str) -> None:
        """Allow another follow-up for the fix with this key."""
        with self._writing:
            if not self.is_fix_followed_up(key):
                return
            follow_up_rows.forget_followed_up(self._database, key)
            with self._memory:
                self._followed_up.discard(key)

    def follow_up(
        self, session: str | None, checkout: str, text: str, now: datetime, key: str | None = None
    ) -> FollowUp | None:
        """Owe a line to a session, or to the next one of a checkout. None if this key has had its follow-up already."""
        with self._writing:
            if key is not None and self.is_fix_followed_up(key):
                return None
            follow_up = follow_up_rows.put_follow_up(self._database, session, checkout, text, now, key)
            with self._memory:
                if key is not None:
                    self._followed_up.add(key)
                self._follow_ups = (*self._follow_ups, follow_up)
                self._version += 1
            return follow_up

    def mark_delivered(self, numbers: Collection[int]) -> None:
        """Note that the follow-ups with these numbers were delivered."""
        with self._writing:
            follow_up_rows.drop_follow_ups(self._database, numbers)
            with self._memory:
                self._follow_ups = tuple(one for one in self._follow_ups if one.number not in numbers)
                self._version += 1

    def open(  # noqa: PLR0913 - the fields of an episode, each by its name
        self,
        episode_id: str,
        *,
        provider: str,
        checkout: str,
        branch: str | None,
        process: Process | None,
        state: EpisodeState,
        now: datetime,
        goes_on_from: Episode | None = None,
    ) -> KnownEpisode:
        """Open an episode. One that is already open is heard again, and moves to `checkout`.

        A closed one is reopened and continues with the task it was left with. `goes_on_from` is the episode that it
        takes over from: that one is closed, and its task, claims and follow-ups pass to this one.
        """
        with self._writing:
            before = self._open.get(check_id(episode_id))
            episode = Episode(
                id=episode_id,
                provider=check_provider(provider),
                checkout=checkout,
                branch=branch,
                process=best_known(before.process if before else None, process),
                state=state,
                since=before.since if before else now,
                heard=now,
            )
            if goes_on_from is None:
                rows.put_episode(self._database, episode)
            else:
                self._succeed(goes_on_from, episode, now)
            if before is None:
                self.wakes.begin_anew(episode.id, now)
            left = None if before else rows.current_task(self._database, episode.id)
            claims = self._claims if before else _read_claims(self._database)
            with self._memory:
                self._open[episode.id] = episode
                if left is not None:
                    self._tasks[episode.id] = left
                self._claims = claims
                self._ended.pop(episode.id, None)
                self._successors.pop(episode.id, None)
                self._stored[episode.id] = now
                self._heard.add(episode.id)
                self._silent.discard(episode.id)
                self.comings += before is None
                self._version += 1
                return self._with_liveness(episode)

    def close(self, episode_id: str, reason: str, now: datetime) -> Episode:
        """Close an open episode, with the reason. Its task stays as it is; its claims end, unless a successor gets them."""
        with self._writing:
            episode = self.require_open(episode_id).replace(closed=now, closed_reason=reason)
            rows.close_episode(self._database, episode, MOST_STORED)
            self._forget(episode, now)
            return episode

    def _forget(self, closed: Episode, now: datetime) -> None:
        """Remove an episode that was stored as closed from memory."""
        self.activity.forget_clients(closed.id)
        with self._memory:
            self._open.pop(closed.id, None)
            self._stored.pop(closed.id, None)
            self._cards.pop(closed.id, None)
            self._tasks.pop(closed.id, None)
            self._claims = {key: claim for key, claim in self._claims.items() if claim.episode != closed.id}
            self._heard.discard(closed.id)
            self._silent.discard(closed.id)
            if closed.closed_reason not in FOUND:
                self._ended[closed.id] = Ended(now, closed.process.pid if closed.process else None)
            self.comings += 1
            self._version += 1

    def _succeed(self, before: Episode, after: Episode, now: datetime) -> None:
        """Store that `after` takes over from `before`: close it, and pass on its task, claims and follow-ups."""
        closed = before.replace(closed=before.closed or now, closed_reason=succession_reason(after.id))
        inheritance.pass_on(self._database, closed, after)
        self._forget(closed, closed.closed or now)
        task = rows.current_task(self._database, after.id)
        with self._memory:
            self._successors[closed.id] = after.id
            self._tasks |= {after.id: task} if task else {}
            self._claims = _read_claims(self._database)
            self._follow_ups = follow_up_rows.waiting_follow_ups(self._database)

    def successors(self) -> Mapping[str, str]:
        """Map the id of each session that another took over from to the id of its successor."""
        with self._memory:
            return dict(self._successors)

    def ended_sessions(self) -> Mapping[str, Ended]:
        """The closed sessions whose end was reported, by id."""
        with self._memory:
            return dict(self._ended)

    def hear(self, episode_id: str, now: datetime) -> None:
        """Note, in memory, that an open episode has called. Does nothing if no episode with this id is open here."""
        with self._memory:
            episode = self._open.get(episode_id)
            if episode is None:
                return
            heard = self._open[episode_id] = episode.replace(heard=now)
            self._ordered[episode_id] = self._with_liveness(heard)
            if episode_id not in self._heard or episode_id in self._silent:
                self._heard.add(episode_id)
                self._silent.discard(episode_id)
                self._version += 1

    def note_silence(self, now: datetime) -> None:
        """Note, in memory, which open episodes have missed three heartbeats since this was first called."""
        with self._memory:
            since = self._watched_since = self._watched_since or now
            silent = {episode.id for episode in self._open.values() if is_silent(episode.heard, since, now)}
            if silent != self._silent:
                self._silent = silent
                self._version += 1

    def store_hearings(self) -> None:
        """Store when each episode was last heard, if that has changed enough, so that the next server knows it too."""
        with self._writing:
            with self._memory:
                unwritten = [e for e in self._open.values() if worth_storing(self._stored[e.id], e.heard)]
            for episode in unwritten:
                rows.put_episode(self._database, episode)
                self._stored[episode.id] = episode.heard

    def set_task(
        self, episode_id: str, title: str, scope: tuple[str, ...], following: str | None, now: datetime
    ) -> Task:
        """Give an episode a new task. The one before it ends."""
        task = new_task(check_id(episode_id), title, scope, following, now)
        with self._writing:
            self.require_open(episode_id)
            rows.set_task(self._database, task)
            return self._remember_task(task)

    def set_next(self, episode_id: str, following: str, now: datetime) -> Task:
        """Set the next action of an episode's task."""
        action = check_next(following)
        with self._writing:
            self.require_open(episode_id)
            return self._remember_task(rows.set_next(self._database, episode_id, action, now))

    def end_task(self, episode_id: str, now: datetime) -> Task:
        """End the task of an episode, and return it as it ended."""
        with self._writing:
            self.require_open(episode_id)
            task = rows.end_task(self._database, episode_id, now)
            with self._memory:
                self._tasks.pop(episode_id, None)
                self._version += 1
            return task

    def announce(
        self, episode_id: str, name: str, intent: str, scope: tuple[str, ...], now: datetime
    ) -> tuple[Claim, Claim | None]:
        """Claim paths for an episode. Returns the claim, and the one of the same name that it replaces, if any."""
        claim = new_claim(check_id(episode_id), name, intent, scope, now)
        with self._writing:
            self.require_open(episode_id)
            claim_rows.put_claim(self._database, claim)
            with self._memory:
                released = self._claims.get((episode_id, name))
                self._claims[episode_id, name] = claim
                self._version += 1
            return claim, released

    def release(self, episode_id: str, name: str | None) -> tuple[Claim, ...]:
        """Release the claim with this name, or all claims of the episode, and return them. Raises NotFoundError."""
        with self._writing:
            self.require_open(episode_id)
            held = [claim for claim in self.claims() if claim.episode == episode_id and name in (None, claim.name)]
            if not held:
                what = f"no claim named {name[:40]!r}" if name is not None else "no claim"
                raise NotFoundError(f"episode {episode_id} holds {what}; see majordomus peers list")
            claim_rows.drop_claims(self._database, episode_id, tuple(claim.name for claim in held))
            with self._memory:
                for claim in held:
                    del self._claims[episode_id, claim.name]
                self._version += 1
            return tuple(held)

    def _remember_task(self, task: Task) -> Task:
        with self._memory:
            self._tasks[task.episode] = task
            self._version += 1
        return task

    def _with_liveness(self, episode: Episode) -> KnownEpisode:
        """The episode with its liveness, cached while both stay the same, since every brief asks for all of them."""
        card, liveness = self._cards.get(episode.id), self._liveness(episode.id)
        if card is None or card.episode is not episode or card.liveness != liveness:
            card = self._cards[episode.id] = KnownEpisode(episode=episode, liveness=liveness)
        return card

    def _liveness(self, episode_id: str) -> Liveness:
        if episode_id in self._silent:
            return "silent"
        return "heard" if episode_id in self._heard else "unheard"

    def require_open(self, episode_id: str) -> Episode:
        """The open episode with this id. Raises ConflictError if it is closed, NotFoundError if it was never open."""
        episode = self._open.get(check_id(episode_id))
        return episode if episode is not None else rows.refuse_closed(self._database, episode_id)


def _read_claims(database: Database) -> dict[tuple[str, str], Claim]:
    return {(claim.episode, claim.name): claim for claim in claim_rows.held_claims(database)}
