"""Closing the episodes that have ended although nobody said so, at every look of the server and when somebody asks."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable
from datetime import datetime

from brief.core.model.errors import ConflictError, MajordomusError, NotFoundError
from brief.core.sessions.episode import KnownEpisode
from brief.core.sessions.life import PROCESS_ENDED, Life, ending
from brief.fastpath.known import ABSENT
from brief.fastpath.process import may_have_ended
from brief.git.checkout_presence import find_checkout
from brief.sessions.board import Board
from brief.sessions.handover import hand_over
from brief.sessions.processes import process_lives

FRESH_SECONDS = 1.0
"""For how long an answer may rest on the last look at the processes."""

WAIT_SECONDS = 0.3

log = logging.getLogger(__name__)


class Endings:
    """Closes what has ended on the board of the repository `common_dir`. Thread safe; `now` is the wall clock."""

    def __init__(self, board: Board, common_dir: str, now: Callable[[], datetime]) -> None:
        self._board = board
        self._common_dir = common_dir
        self._now = now
        self._lock = threading.Lock()
        self._looked: float | None = None

    def look(self) -> None:
        """Judge every open episode; raises MajordomusError where the board cannot be written."""
        self._looked = time.monotonic()
        self._judge(self._board.known())

    def refresh(self) -> None:
        """Close the episodes whose processes ended since the last look, unless that was under a second ago.

        Who asks while another looks waits for that look (single-flight), for a moment. Where the board cannot be written
        nobody ends.
        """
        if not self._lock.acquire(timeout=WAIT_SECONDS):
            return
        try:
            if self._looked is None or time.monotonic() - self._looked >= FRESH_SECONDS:
                self._looked = time.monotonic()
                self._judge(one for one in self._board.known() if _is_doubtful(one))
        except MajordomusError as fault:
            log.warning("not judged", extra={"reason": str(fault)})
        finally:
            self._lock.release()

    def _judge(self, doubtful: Iterable[KnownEpisode]) -> None:
        known = tuple(doubtful)
        lives = process_lives(one.episode.process for one in known if one.episode.process is not None)
        for one in known:
            life = next(lives) if one.episode.process is not None else Life.UNKNOWN
            reason = self._ending(one, life)
            if reason is not None:
                self._end(one.episode.id, reason)

    def _ending(self, known: KnownEpisode, life: Life) -> str | None:
        episode = known.episode
        is_removed = life is Life.UNKNOWN and find_checkout(self._common_dir, episode.checkout) is ABSENT
        return ending(episode, life, self._now(), is_removed=is_removed, is_silent=known.liveness == "silent")

    def _end(self, episode_id: str, reason: str) -> None:
        with contextlib.suppress(ConflictError, NotFoundError):  # its session closed it meanwhile
            if reason == PROCESS_ENDED and hand_over(self._board, episode_id, self._now()):
                log.info("episode goes on in another client", extra={"episode": episode_id})
                return
            self._board.close(episode_id, reason, self._now())
            log.info("episode closed", extra={"episode": episode_id, "reason": reason})


def _is_doubtful(known: KnownEpisode) -> bool:
    process = known.episode.process
    return process is not None and process.table is not None and may_have_ended(process.pid)
