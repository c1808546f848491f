"""What the last server of a repository stored of its sessions, read where no server answers."""

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
from brief.sessions.processes import known_life
from brief.sessions.recovery import had_database
from brief.support.files import stamp
from brief.support.state_folder import refuse_unproven


class StoredSessions:
    """What the last server stored, read where no server answers: every episode is `unheard`, nothing is written.

    No database means that no episode was ever opened here, unless an earlier server noted that it had one. One that is
    gone, damaged or cannot be read raises StoreError at each call.
    """

    version = 0

    def loss(self) -> None:
        """Nothing: all that is known is what was stored."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._whole: object = None
        """The stamp of the file when it was found whole."""

    def known(self) -> tuple[KnownEpisode, ...]:
        """The episodes that were open when last stored."""
        with self._opened() as database:
            stored = rows.open_episodes(database) if database else ()
        return tuple(KnownEpisode(episode=episode, liveness="unheard") for episode in stored)

    def one(self, episode_id: str) -> KnownEpisode | None:
        """The one of them with this id; None where none is."""
        return next((one for one in self.known() if one.episode.id == episode_id), None)

    def at(self, checkout: str) -> tuple[str, ...]:
        """The ids of those of a checkout."""
        return tuple(one.episode.id for one in self.known() if one.episode.checkout == checkout)

    def tasks(self) -> dict[str, Task]:
        """The current task of each of them."""
        with self._opened() as database:
            return rows.current_tasks(database) if database else {}

    def owner(self, episode_id: str) -> Life:
        """Gone where the episode was stored as closed; else by its process, since nobody was heard.

        One that another took over from lives as long as that one.
        """
        with self._opened() as database:
            heir = last_heir(episode_id, inheritance.successors(database)) if database else None
            stored = rows.get_episode(database, heir or episode_id) if database else None
        if stored is None:
            return Life.UNKNOWN
        return known_life(KnownEpisode(episode=stored, liveness="unheard")) if stored.is_open else Life.GONE

    def ended(self) -> Mapping[str, Ended]:
        """The closed sessions of which somebody said that they ended."""
        with self._opened() as database:
            return rows.ended_sessions(database, FOUND) if database else {}

    def follow_ups(self, episode_id: str) -> tuple[FollowUp, ...]:  # noqa: ARG002 - whoever asks, nothing is told
        """Nothing: what is owed waits for a server, which knows what it told."""
        return ()

    def wake_state(self, episode_id: str) -> WakeState | None:  # noqa: ARG002 - whoever asks
        """Nothing: nobody is woken where no server runs."""
        return None

    def clients(self, episode_id: str, now: datetime) -> tuple[Client, ...]:  # noqa: ARG002 - whoever asks
        """Nothing: clients speak to a server."""
        return ()

    def claims(self) -> tuple[Claim, ...]:
        """Every claim that was held when last stored, the oldest first."""
        with self._opened() as database:
            return claim_rows.held_claims(database) if database else ()

    @contextlib.contextmanager
    def _opened(self) -> Iterator[Database | None]:
        refuse_unproven(str(self._path.parent))
        if not self._path.exists():
            _refuse_missing(self._path)
            yield None
            return
        self._refuse_damaged()
        with contextlib.closing(Database(self._path, epoch=None)) as database:
            yield database

    def _refuse_damaged(self) -> None:
        now = stamp(str(self._path))
        if now == self._whole:
            return
        damage = check_integrity(self._path)
        if damage is not None:
            raise StoreError(f"{self._path} is damaged ({clean(damage, 200)}); majordomus serve ensure keeps it aside")
        self._whole = now


def _refuse_missing(path: Path) -> None:
    """Raise StoreError unless it is known that nothing was ever stored."""
    stored = had_database(str(path.parent))
    if isinstance(stored, Unknown):
        raise StoreError(f"{path} is not there, and whether it ever was {stored.reason}")
    if isinstance(stored, Known) and stored.value:
        raise StoreError(
            f"{path} is gone, although an earlier server had stored sessions, tasks and claims in it; "
            "put it back, or begin anew with majordomus serve ensure"
        )
