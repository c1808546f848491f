"""Close the episodes that have ended without a report, at every round of housekeeping and on demand."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable
from datetime import datetime

from brief.core.model.errors import ConflictError, MajordomusError, NotFoundError
from brief.core.sessions.episode import KnownEpisode
from brief.core.sessions.life import PROCESS_ENDED, Life, why_ended
from brief.fastpath.known import ABSENT
from brief.fastpath.process import may_have_ended
from brief.git.checkout_presence import find_checkout
from brief.sessions.board import Board
from brief.sessions.handover import hand_over
from brief.sessions.processes import process_lives

FRESH_SECONDS = 1.0
"""For how long the result of the last check of the processes may be used."""

WAIT_SECONDS = 0.3

log = logging.getLogger(__name__)


class Endings:
    """Closes ended episodes on the board of the repository `common_dir`. Thread safe. `now` is the wall clock."""

    def __init__(self, board: Board, common_dir: str, now: Callable[[], datetime]) -> None:
        self._board = board
        self._common_dir = common_dir
        self._now = now
        self._lock = threading.Lock()
        self._checked_at: float | None = None

    def close_ended(self) -> None:
        """Check every open episode, and close those that have ended. Raises MajordomusError if that cannot be stored."""
        self._checked_at = time.monotonic()
        self._close_ended_of(self._board.open_episodes())

    def refresh(self) -> None:
        """Close the episodes whose processes have ended, unless that was checked under a second ago.

        Callers at the same time share one check (single-flight), and wait for it only a moment. If that cannot be stored,
        no episode is closed.
        """
        if not self._lock.acquire(timeout=WAIT_SECONDS):
            return
        try:
            if self._checked_at is None or time.monotonic() - self._checked_at >= FRESH_SECONDS:
                self._checked_at = time.monotonic()
                self._close_ended_of(one for one in self._board.open_episodes() if _is_doubtful(one))
        except MajordomusError as fault:
            log.warning("ended episodes cannot be closed", extra={"reason": str(fault)})
        finally:
            self._lock.release()

    def _close_ended_of(self, episodes: Iterable[KnownEpisode]) -> None:
        known = tuple(episodes)
        lives = process_lives(one.episode.process for one in known if one.episode.process is not None)
        for one in known:
            life = next(lives) if one.episode.process is not None else Life.UNKNOWN
            reason = self._why_ended(one, life)
            if reason is not None:
                self._end(one.episode.id, reason)

    def _why_ended(self, known: KnownEpisode, life: Life) -> str | None:
        episode = known.episode
        is_removed = life is Life.UNKNOWN and find_checkout(self._common_dir, episode.checkout) is ABSENT
        return why_ended(episode, life, self._now(), is_removed=is_removed, is_silent=known.liveness == "silent")

    def _end(self, episode_id: str, reason: str) -> None:
        with contextlib.suppress(ConflictError, NotFoundError):  # its session closed it meanwhile
            if reason == PROCESS_ENDED and hand_over(self._board, episode_id, self._now()):
                log.info("episode continues in another client", extra={"episode": episode_id})
                return
            self._board.close(episode_id, reason, self._now())
            log.info("episode closed", extra={"episode": episode_id, "reason": reason})


def _is_doubtful(known: KnownEpisode) -> bool:
    process = known.episode.process
    return process is not None and process.table is not None and may_have_ended(process.pid)
