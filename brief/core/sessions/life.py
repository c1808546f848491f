"""The life of an episode: when it has gone silent, when it has ended although nobody said so, and who is named first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum

from brief.core.model.brief import EpisodeState
from brief.core.sessions.episode import Episode, KnownEpisode


class Life(StrEnum):
    """Whether a process or a session lives. Gone is proven; unknown is no other word for it."""

    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


LOOK = timedelta(seconds=60)
"""How often a session that is well speaks to its server."""

SILENT_AFTER = 3 * LOOK
MOST_CLOSED = 32
"""How many closed episodes a list shows."""

MOST_STORED = 1_000
"""How many closed episodes are stored, so that the owner of an old lock is known to be gone."""


def is_silent(heard: datetime, watched_since: datetime, now: datetime) -> bool:
    """Whether three looks went by in which an episode could have been heard and was not.

    A server that began to watch only now has missed nothing yet. A clock that was set back leaves `heard` in the
    future: that too is no hearing of late.
    """
    return abs(now - heard) > SILENT_AFTER and abs(now - watched_since) > SILENT_AFTER


def lost_checkout(checkout: str, listed: Mapping[str, bool]) -> str | None:
    """Why a checkout is no more, None where it is there; `listed` tells of each one git lists whether its folder is."""
    if checkout not in listed:
        return "gone: git lists its checkout no more"
    return None if listed[checkout] else "gone: the folder of its checkout is missing"


def ending(episode: Episode, process: Life, listed: Mapping[str, bool] | None) -> str | None:
    """Why an open episode has ended, None where it goes on as far as can be told.

    `process` is how its process fares, unknown where it named none; `listed` None where git did not say.
    """
    if process is Life.GONE:
        return "its process ended"
    return lost_checkout(episode.checkout, listed) if listed is not None else None


def in_order(known: Iterable[KnownEpisode]) -> tuple[KnownEpisode, ...]:
    """Whoever waits for a human first, then the longest open."""
    return tuple(sorted(known, key=lambda one: (not is_waiting(one.state), one.episode.since, one.episode.id)))


def is_waiting(state: EpisodeState) -> bool:
    """Whether a human is waited for."""
    return state is EpisodeState.WAITING
