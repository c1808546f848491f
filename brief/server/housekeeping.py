"""What a server does for its board at every look: close what has ended, note who is silent, store who was heard."""

from __future__ import annotations

import contextlib
import logging

from brief.core.model.errors import ConflictError, NotFoundError
from brief.core.sessions.episode import KnownEpisode
from brief.core.sessions.life import PROCESS_ENDED, Life, ending
from brief.fastpath.known import ABSENT
from brief.git import find_checkout
from brief.service import RepositoryService
from brief.sessions.handover import hand_over
from brief.sessions.processes import process_life

log = logging.getLogger(__name__)


def tend(service: RepositoryService) -> None:
    """One look at every open episode; raises MajordomusError where the board cannot be written."""
    board, now = service.board, service.now()
    board.note_silence(now)
    for known in board.known():
        reason = _ending(service, known)
        if reason == PROCESS_ENDED and _handed_over(service, known.episode.id):
            log.info("episode goes on in another client", extra={"episode": known.episode.id})
        elif reason is not None:
            _close(service, known.episode.id, reason)
    board.store_hearings()


def _ending(service: RepositoryService, known: KnownEpisode) -> str | None:
    episode = known.episode
    life = process_life(episode.process) if episode.process is not None else Life.UNKNOWN
    is_removed = life is Life.UNKNOWN and find_checkout(service.common_dir, episode.checkout) is ABSENT
    return ending(episode, life, service.now(), is_removed=is_removed, is_silent=known.standing == "silent")


def _handed_over(service: RepositoryService, episode_id: str) -> bool:
    """Whether another client shows the session and has it now."""
    with contextlib.suppress(ConflictError, NotFoundError):
        return hand_over(service.board, episode_id, service.now())
    return False


def _close(service: RepositoryService, episode_id: str, reason: str) -> None:
    try:
        service.board.close(episode_id, reason, service.now())
    except (ConflictError, NotFoundError):
        return  # its session closed it meanwhile
    log.info("episode closed", extra={"episode": episode_id, "reason": reason})
