"""What a server does for its board at every look: close what has ended, note who is silent, store who was heard."""

from __future__ import annotations

import logging
import os

from brief.core.model.errors import ConflictError, GitError, NotFoundError
from brief.core.sessions.life import Life, ending
from brief.core.text.sanitize import wire
from brief.git import Checkout
from brief.service import RepositoryService
from brief.sessions.processes import process_life

log = logging.getLogger(__name__)


def tend(service: RepositoryService) -> None:
    """One look at every open episode; raises MajordomusError where the board cannot be written."""
    board, now = service.board, service.now()
    known = board.known()
    # Asked after the board, so that a checkout made just now is not missed, and only where it matters to somebody.
    listed = _listed(service) if known else None
    for episode in (one.episode for one in known):
        life = process_life(episode.process) if episode.process is not None else Life.UNKNOWN
        reason = ending(episode, life, listed)
        if reason is not None:
            _close(service, episode.id, reason)
    board.note_silence(now)
    board.store_hearings()


def _listed(service: RepositoryService) -> dict[str, bool] | None:
    """Whether the folder of each checkout is there, by every spelling of it; None where git does not say."""
    try:
        checkouts = [checkout for checkout in service.context.worktrees() if not checkout.bare]
    except GitError:
        return None
    return {name: not checkout.gone for checkout in checkouts for name in _spellings(checkout)}


def _spellings(checkout: Checkout) -> set[str]:
    return {wire(checkout.root), wire(os.path.realpath(checkout.root))}


def _close(service: RepositoryService, episode_id: str, reason: str) -> None:
    try:
        service.board.close(episode_id, reason, service.now())
    except (ConflictError, NotFoundError):
        return  # its session closed it meanwhile
    log.info("episode closed", extra={"episode": episode_id, "reason": reason})
