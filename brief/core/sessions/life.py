"""The life of an episode: when it has gone silent, when it has ended although nobody said so, and who is named first."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from brief.core.model.brief import EpisodeState, Liveness
from brief.core.sessions.episode import Episode, KnownEpisode


class Life(StrEnum):
    """Whether a process or a session lives. Gone is proven; unknown is no other word for it."""

    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


LOOK = timedelta(seconds=60)
"""How often a session that is well speaks to its server."""

SILENT_AFTER = 3 * LOOK
UNHEARD_FOR = timedelta(days=7)
"""After how long of silence an episode ends of which no process was ever known."""

PROCESS_ENDED = "its process ended"
CHECKOUT_REMOVED = "its checkout was removed: neither its folder is there, nor does git keep anything of it"
UNHEARD = f"not heard for {UNHEARD_FOR.days} days, and no process of it was ever known"

FOUND = (PROCESS_ENDED, CHECKOUT_REMOVED, UNHEARD)
"""Reasons that were found out by looking; every other one was told."""

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


def session_life(process: Life, liveness: Liveness) -> Life:
    """Whether the session of an open episode lives: by its process, else as long as it was heard of late."""
    if process is Life.UNKNOWN and liveness == "heard":
        return Life.ALIVE
    return process


def ending(episode: Episode, process: Life, now: datetime, *, is_removed: bool, is_silent: bool) -> str | None:
    """Why an open episode has ended, None where it goes on as far as can be told.

    A process that lives is a session that lives, wherever its checkout is; `is_removed` is whether that is known to be
    gone. `is_silent` is whether this server had the time to hear it: one that nobody can look at ends by its silence alone.
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
    """Whoever waits for a human first, then the longest open."""
    return tuple(sorted(known, key=lambda one: (not is_waiting(one.state), one.episode.since, one.episode.id)))


def is_waiting(state: EpisodeState) -> bool:
    """Whether a human is waited for."""
    return state is EpisodeState.WAITING
