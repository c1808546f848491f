"""The sessions of a repository as its last server stored them, read if no server answers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from brief.core.model.errors import StoreError
from brief.core.notices.follow_up import FollowUp
from brief.core.sessions.claims import Claim
from brief.core.sessions.episode import Client, Ended, KnownEpisode
from brief.core.sessions.life import FOUND, Life
from brief.core.sessions.succession import last_heir
from brief.core.sessions.task import Task
from brief.core.text.sanitize import clean
from brief.core.wakes.state import WakeState
from brief.fastpath.known import Known, Unknown
from brief.sessions import claims as claim_rows
from brief.sessions import episodes as rows
from brief.sessions import inheritance
from brief.sessions.database import Database, check_integrity
from brief.sessions.losses import NOTHING_NOTED, UNHEARD, read_record, reasons_of
from brief.sessions.processes import known_life, stored_life
from brief.sessions.recovery import describe_rollback
from brief.support.files import stamp_file
from brief.support.state_folder import refuse_unproven


class StoredSessions:
    """The sessions as the last server stored them. Every episode is `unheard`, and nothing is written.

    Without a database no episode was ever opened here, unless an earlier server noted that it had one. If the database is
    gone, damaged or unreadable, every call raises StoreError.
    """

    version = 0

    def __init__(self, path: Path) -> None:
        self._path = path
        self._intact: object = None
        """The stamp of the file when it was last found intact."""
        self._missing: str | None = None

    def loss(self) -> None:
        """None: everything that is known here is stored."""

    def missing(self) -> str | None:
        """Why open sessions may be missing, as found by the last other call. None if none are known to be."""
        return self._missing

    def open_episodes(self) -> tuple[KnownEpisode, ...]:
        """The episodes that were open when last stored."""
        with self._open_database() as database:
            stored = rows.open_episodes(database) if database else ()
        return tuple(KnownEpisode(episode=episode, liveness="unheard") for episode in stored)

    def find_open(self, episode_id: str) -> KnownEpisode | None:
        """The episode with this id that was open when last stored, or None."""
        return next((one for one in self.open_episodes() if one.episode.id == episode_id), None)

    def open_ids_at(self, checkout: str) -> tuple[str, ...]:
        """The ids of the episodes of a checkout that were open when last stored."""
        return tuple(one.episode.id for one in self.open_episodes() if one.episode.checkout == checkout)

    def tasks(self) -> dict[str, Task]:
        """The current task of each of these episodes that has one, by episode id."""
        with self._open_database() as database:
            return rows.current_tasks(database) if database else {}

    def life_of(self, episode_id: str) -> Life:
        """Whether a session, or the one that took over from it, is alive, judged by its process. GONE if it is closed."""
        with self._open_database() as database:
            heir = last_heir(episode_id, inheritance.successors(database)) if database else None
            stored = rows.get_episode(database, heir or episode_id) if database else None
        if stored is None:
            return Life.UNKNOWN
        return known_life(KnownEpisode(episode=stored, liveness="unheard")) if stored.is_open else stored_life(stored)

    def ended_sessions(self) -> Mapping[str, Ended]:
        """The closed sessions whose end was reported, by id."""
        with self._open_database() as database:
            return rows.ended_sessions(database, FOUND) if database else {}

    def follow_ups(self, episode_id: str) -> tuple[FollowUp, ...]:  # noqa: ARG002 - the same for every episode
        """None: follow-ups wait for a server, which knows what it has delivered."""
        return ()

    def wake_state(self, episode_id: str) -> WakeState | None:  # noqa: ARG002 - the same for every episode
        """None: without a server no session is woken."""
        return None

    def clients(self, episode_id: str, now: datetime) -> tuple[Client, ...]:  # noqa: ARG002 - the same for every episode
        """None: only a server hears clients."""
        return ()

    def claims(self) -> tuple[Claim, ...]:
        """Every claim that was held when last stored, oldest first."""
        with self._open_database() as database:
            return claim_rows.held_claims(database) if database else ()

    @contextlib.contextmanager
    def _open_database(self) -> Iterator[Database | None]:
        refuse_unproven(str(self._path.parent))
        if not self._path.exists():
            _refuse_missing(self._path)
            yield None
            return
        self._refuse_damaged()
        with contextlib.closing(Database(self._path, epoch=None)) as database:
            self._missing = _find_missing(database)
            yield database

    def _refuse_damaged(self) -> None:
        now = stamp_file(str(self._path))
        if now == self._intact:
            return
        damage = check_integrity(self._path)
        if damage is not None:
            raise StoreError(f"{self._path} is damaged ({clean(damage, 200)}); majordomus serve ensure moves it aside")
        self._intact = now


def _find_missing(database: Database) -> str | None:
    """Why open sessions may be missing: a loss after which no server has run for long enough."""
    record = read_record(str(database.path.parent))
    noted = record.value if isinstance(record, Known) else NOTHING_NOTED
    why = reasons_of((*database.losses, *(() if noted.loss is None else (noted.loss,))))
    why = why or describe_rollback(database, noted.generation)
    return None if why is None else f"{UNHEARD}: {why}"


def _refuse_missing(path: Path) -> None:
    """Raise StoreError unless it is known that nothing was ever stored."""
    stored = read_record(str(path.parent))
    if isinstance(stored, Unknown):
        raise StoreError(f"{path} is not there, and it is unknown whether it ever was: {stored.reason}")
    if isinstance(stored, Known) and stored.value.had_database:
        raise StoreError(
            f"{path} is gone, although an earlier server had stored sessions, tasks and claims in it; "
            "put it back, or start afresh with majordomus serve ensure"
        )
