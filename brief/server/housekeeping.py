"""The regular work of a server: what it does for its board every 10 seconds, and what it tidies up once an hour.

Every 10 seconds it marks silent sessions, closes ended ones, stores when they were heard, hands over locks to successors, and
informs the sessions that wait for a bug-dep that was set to done in its file. Every hour it archives expired notices, and
removes leftovers and the read receipts of sessions that ended long ago.
"""

from __future__ import annotations

import logging

from brief.core.model.errors import MajordomusError
from brief.core.policy.settings import Settings
from brief.handlers.archiving import archive_expired, bring_back_early
from brief.handlers.fixes import queue_fix_follow_ups, queue_fix_follow_ups_in
from brief.handlers.succession import hand_over_notices
from brief.notices.folder import is_linked
from brief.notices.half_moved import make_whole
from brief.notices.read_receipts import prune_seen
from brief.sections.alerts import read_visibility
from brief.sections.notice_folders import own_folder
from brief.service import RepositoryService
from brief.support.leftovers import remove_leftovers

TIDY_SECONDS = 3_600.0

log = logging.getLogger(__name__)


def tend(service: RepositoryService) -> None:
    """Look after every open episode. Raises MajordomusError if the board cannot be written."""
    board = service.board
    board.note_silence(service.now())
    service.end_lost()
    board.store_hearings()
    if board.missing() is None:
        board.forget_losses()
    own = (own_folder(service.context.state_dir),)
    hand_over_notices(service, own)
    queue_fix_follow_ups_in(service, own)


def tidy(service: RepositoryService) -> None:
    """Archive and remove what is over, in every checkout by its own policy. One that fails does not affect the others.

    Checkouts with the same folders and settings are tidied once.
    """
    state_dir, now = service.context.state_dir, service.now()
    prune_seen(state_dir, now)
    remove_leftovers(state_dir, now)
    tidied: set[tuple[tuple[str, ...], Settings]] = set()
    for checkout in service.context.worktrees():
        if checkout.bare or checkout.gone:
            continue
        try:
            request = service.request_context(checkout.root)
            query, what = request.query, (request.notice_folders, request.query.settings)
            if what in tidied:
                continue
            tidied.add(what)
            for folder in request.notice_folders:
                if is_linked(folder, "active") is None:
                    remove_leftovers(f"{folder}/active", now)
                make_whole(folder)
            bring_back_early(service, query)
            archive_expired(service, query, read_visibility(service.context, query))
            hand_over_notices(service, request.notice_folders)
            queue_fix_follow_ups(service, query)
        except MajordomusError as fault:
            log.warning("a checkout was not tidied", extra={"root": checkout.root, "reason": str(fault)})
    service.clock.believe()
