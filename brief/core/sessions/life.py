"""The life of an episode: when it is silent, when it has ended unreported, and the order in which episodes are listed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from brief.core.model.section_data import EpisodeState, Liveness
from brief.core.sessions.episode import Episode, KnownEpisode


class Life(StrEnum):
    """Whether a process, or the session that holds a lock, lives. GONE is proven; UNKNOWN never means gone."""

    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


LOOK = timedelta(seconds=60)
"""How often a healthy session calls its server."""

SILENT_AFTER = 3 * LOOK
UNHEARD_FOR = timedelta(days=7)
"""How long an episode without a known process may be silent before it ends."""

PROCESS_ENDED = "its process ended"
CHECKOUT_REMOVED = "its checkout was removed: its folder is gone, and git has no record of it"
UNHEARD = f"not heard from for {UNHEARD_FOR.days} days, and its process was never known"

FOUND = (PROCESS_ENDED, CHECKOUT_REMOVED, UNHEARD)
"""Reasons that the server found out by itself; every other reason was reported to it."""

MOST_CLOSED = 32
"""How many closed episodes a list shows."""

MOST_STORED = 1_000
"""How many closed episodes are stored, so that the owner of an old lock can be known to be gone."""


def is_silent(heard: datetime, watched_since: datetime, now: datetime) -> bool:
    """Whether an episode could have been heard during three heartbeats and was not.

    A server that has only just started has missed nothing yet. A clock that was set back leaves `heard` in the future,
    which is not a recent hearing either.
    """
    return abs(now - heard) > SILENT_AFTER and abs(now - watched_since) > SILENT_AFTER


def session_life(process: Life, liveness: Liveness) -> Life:
    """Whether the session of an open episode lives: by its process, or if that is unknown, by a recent hearing."""
    if process is Life.UNKNOWN and liveness == "heard":
        return Life.ALIVE
    return process


def why_ended(episode: Episode, process: Life, now: datetime, *, is_removed: bool, is_silent: bool) -> str | None:
    """Why an open episode has ended. None if it continues as far as anybody knows.

    A session lives while its process does, whatever became of its checkout; `is_removed` says that the checkout is known to
    be gone. `is_silent` says that this server has had time to hear the episode: without a known process, only silence can
    end it.
    """
    if process is Life.GONE:
        return PROCESS_ENDED
    if process is Life.ALIVE:
        return None
    if is_removed:
        return CHECKOUT_REMOVED
    is_known = episode.process is not None and episode.process.table is not None
    return None if is_known or not is_silent or now - episode.heard < UNHEARD_FOR else UNHEARD


def in_order(known: Iterable[KnownEpisode]) -> tuple[KnownEpisode, ...]:
    """The episodes that wait for a person first, then the oldest."""
    return tuple(sorted(known, key=lambda one: (not is_waiting(one.state), one.episode.since, one.episode.id)))


def is_waiting(state: EpisodeState) -> bool:
    """Whether the episode waits for a person."""
    return state is EpisodeState.WAITING
