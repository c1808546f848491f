"""A session that goes on in the client of another takes over its lock, its task, its claims and what is owed to it.

What lies in the database moves in the transaction that stores the session. Locks lie in files: each look at a folder
writes the heir into those that still name a session which was succeeded, also after a kill or a full disk.
"""

from __future__ import annotations

import asyncio
import logging

from brief.core.model.errors import MajordomusError
from brief.core.sessions.episode import Episode, Process
from brief.core.sessions.life import MOST_CLOSED
from brief.core.sessions.succession import predecessor
from brief.notices.inheritance import heir_of, pass_on
from brief.request import RequestContext
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread

log = logging.getLogger(__name__)


def find_predecessor(
    service: RepositoryService, session: str, process: Process | None, *, takes_over: bool
) -> Episode | None:
    """The episode that a session goes on from; `takes_over` says that its client told so. Blocks on the database."""
    board = service.board
    return predecessor(
        session,
        process,
        (one.episode for one in board.known()),
        board.closed(MOST_CLOSED) if process else (),
        takes_over=takes_over,
    )


def hand_over_notices(service: RepositoryService, folders: tuple[str, ...]) -> None:
    """Write heirs into the locks and bug-deps of the folders whose session was succeeded.

    What fails is tried at the next look. Costs one look at the files where nothing is to be written.
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
            log.warning("a lock is not handed over yet", extra={"reason": fault})


def hand_over_notices_soon(service: RepositoryService, request: RequestContext) -> None:
    """The same, of the folders from which a brief was just composed."""
    folders = request.notice_folders
    snapshot = service.notices.latest(folders)
    successors = service.board.successors()
    if snapshot is not None and any(heir_of(notice, successors) for notice in snapshot.notices):
        service.handing_over = asyncio.ensure_future(in_thread(lambda: hand_over_notices(service, folders)))
