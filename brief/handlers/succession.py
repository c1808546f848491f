"""Pass on what a session leaves when another one continues in its client: locks, task, claims and follow-ups.

Rows in the database move in the transaction that stores the new session. Locks are files: whenever a folder is read, the
heir is written into those that still name a session with a successor, so that a kill or a full disk only delays it.
"""

from __future__ import annotations

import asyncio
import logging

from brief.core.model.errors import MajordomusError
from brief.core.sessions.episode import Episode, Process
from brief.core.sessions.life import MOST_CLOSED
from brief.core.sessions.succession import choose_predecessor
from brief.notices.inheritance import heir_of, pass_on
from brief.request import RequestContext
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread

log = logging.getLogger(__name__)


def find_predecessor(
    service: RepositoryService, session: str, process: Process | None, *, takes_over: bool
) -> Episode | None:
    """The episode that a session continues. `takes_over` means that its client reported it. Blocks on the database."""
    board = service.board
    return choose_predecessor(
        session,
        process,
        (one.episode for one in board.open_episodes()),
        board.closed_episodes(MOST_CLOSED) if process else (),
        takes_over=takes_over,
    )


def hand_over_notices(service: RepositoryService, folders: tuple[str, ...]) -> None:
    """Write the heirs into those locks and bug-deps of the folders whose session has a successor.

    A failure is retried at the next call. If there is nothing to write, this costs one stat per file.
    """
    successors = service.board.successors()
    if not successors:
        return
    for folder in folders:
        try:
            notices = service.context.notices((folder,)).notices
            held = [notice.slug for notice in notices if heir_of(notice, successors)]
            faults = pass_on(folder, held, successors) if held else ()
        except MajordomusError as error:
            faults = (error.sentence,)
        for fault in faults:
            log.warning("a notice could not be handed over yet", extra={"reason": fault})


def hand_over_notices_soon(service: RepositoryService, request: RequestContext) -> None:
    """Hand over in the background, in the folders from which a brief was just composed."""
    folders = request.notice_folders
    snapshot = service.notices.latest(folders)
    successors = service.board.successors()
    if snapshot is not None and any(heir_of(notice, successors) for notice in snapshot.notices):
        service.handing_over = asyncio.ensure_future(in_thread(lambda: hand_over_notices(service, folders)))
