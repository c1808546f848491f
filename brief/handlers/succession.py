"""A session that goes on in the client of another takes over its lock, its task, its claims and what is owed to it."""

from __future__ import annotations

import contextlib
import logging
import os

from brief.core.model.errors import ConflictError, MajordomusError, NotFoundError
from brief.core.sessions.episode import Episode
from brief.core.sessions.life import MOST_CLOSED
from brief.core.sessions.succession import REPLACED, predecessor
from brief.notices.inheritance import is_held_by, pass_on
from brief.service import RepositoryService

log = logging.getLogger(__name__)


def take_over(service: RepositoryService, successor: Episode, *, takes_over: bool) -> None:
    """Let an episode have what the one before it in its client left, and close that one. Blocks on database and files."""
    board = service.board
    before = predecessor(
        successor,
        (one.episode for one in board.known()),
        board.closed(MOST_CLOSED) if successor.process else (),
        takes_over=takes_over,
    )
    if before is None:
        return
    with contextlib.suppress(ConflictError, NotFoundError):  # it is closed
        board.close(before.id, REPLACED, service.now())
    board.pass_on(before.id, successor.id)
    log.info("episode goes on", extra={"episode": before.id, "successor": successor.id})
    try:
        _pass_on_notices(service, before.id, successor.id)
    except MajordomusError as fault:
        log.warning("locks not taken over", extra={"episode": successor.id, "reason": str(fault)})


def _pass_on_notices(service: RepositoryService, before: str, after: str) -> None:
    """In the repository's own folder, into which locks are placed; what lies in others is written by hand."""
    folder = os.path.join(service.context.state_dir, "notices")
    held = [one.slug for one in service.context.notices((folder,)).notices if is_held_by(one, before)]
    if held:
        pass_on(folder, held, before, after)
