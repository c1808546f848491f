"""Tell the session that waits for a bug-dep once that it is done, whether a command or an edit of its file did it.

The file says that the bug-dep is done. The database says that its follow-up was queued, and holds the follow-up itself.
A missing follow-up is queued at the next check, even after a kill between the two.
"""

from __future__ import annotations

import asyncio
import logging

from brief.core.model.errors import MajordomusError, StoreError, SupersededError
from brief.core.notices.follow_up import fix_key, fix_text
from brief.core.notices.notice import Kind, Notice, NoticeStatus
from brief.core.sessions.episode import Episode
from brief.core.text.sanitize import to_wire
from brief.fastpath.known import Known, Unknown
from brief.git.worktree_entries import unlisted_entries
from brief.notices.fix_follow_ups import Bugs
from brief.notices.store import NoticeSnapshot
from brief.request import RequestContext
from brief.sections.context import SectionQuery
from brief.sections.notice_folders import notice_folders
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread

CHECKOUT_FIELD = "checkout"
"""The field with the checkout in which a bug-dep was placed, so that the next session there can be told."""

log = logging.getLogger(__name__)


def queue_fix_follow_ups(service: RepositoryService, query: SectionQuery) -> None:
    """Queue the missing follow-ups for the finished bug-deps in the folders of a checkout.

    If nothing has changed this costs one stat per file. Raises StoreError and SupersededError; the next call retries.
    """
    queue_fix_follow_ups_in(service, notice_folders(service.context.state_dir, query))


def queue_fix_follow_ups_in(service: RepositoryService, folders: tuple[str, ...]) -> None:
    """Queue the missing follow-ups for the finished bug-deps in these folders; see `queue_fix_follow_ups`."""
    _queue_missing(service, folders, _bug_deps(service.context.notices(folders)))


def _queue_missing(service: RepositoryService, folders: tuple[str, ...], bugs: Bugs) -> None:
    with service.fixes.turn:
        if service.fixes.is_settled(folders, bugs):
            return
        done = {fix_key(notice): notice for notice in bugs if notice.status is NoticeStatus.DONE}
        active = {fix_key(notice) for notice in bugs if notice.status is not NoticeStatus.DONE}
        for key in service.fixes.done_before(folders) & active:
            service.board.reopen_fix(key)
        settled = [_queue_if_ours(service, notice) for notice in done.values()]
        if all(settled):
            service.fixes.note_settled(folders, bugs, frozenset(done))


def queue_fix_follow_ups_soon(service: RepositoryService, request: RequestContext) -> None:
    """Queue, in the background, the missing follow-ups for the bug-deps of a brief. The next brief retries a failure."""
    folders = request.notice_folders
    snapshot = service.notices.latest(folders)
    if snapshot is None or service.fixes.is_settled(folders, bugs := _bug_deps(snapshot)):
        return

    def work() -> None:
        try:
            _queue_missing(service, folders, bugs)
        except MajordomusError as fault:
            log.warning("follow-ups could not be queued yet", extra={"reason": str(fault)})

    service.fixes.task = asyncio.ensure_future(in_thread(work))


def _bug_deps(snapshot: NoticeSnapshot) -> Bugs:
    return tuple(notice for notice in snapshot.notices if notice.kind is Kind.BUG_DEP)


def queue_fix_follow_up(service: RepositoryService, notice: Notice, here: str) -> str:
    """Queue the follow-up for a finished bug-dep, and return a sentence that says who will be told.

    `here` is the checkout of the command, for a notice that names none. What cannot be stored now is retried later.
    """
    try:
        placed_by, checkout = _find_waiting(service, notice)
        if not notice.session_id and not checkout:
            return "nobody will be told, since it names no waiting session"
        checkout = checkout or here
        service.board.follow_up(notice.session_id, checkout, fix_text(notice), service.now(), fix_key(notice))
    except (StoreError, SupersededError) as fault:
        return f"this cannot be stored now ({fault}); the waiting session will be told once it can"
    if placed_by is not None and placed_by.is_open:
        return f"session {notice.session_id} will be told in its next brief"
    return f"the next session of {checkout} will be told in its brief"


def describe_recipient(service: RepositoryService, notice: Notice) -> str:
    """Who will be told once a new bug-dep is done, and what to do if it names no session."""
    placed_by, checkout = _find_waiting(service, notice)
    if placed_by is not None and placed_by.is_open:
        return f"session {placed_by.id} will be told"
    if notice.session_id:
        return f"session {notice.session_id} will be told, or the next one of {checkout} if that is not open then"
    return f"the next session of {checkout} will be told, since it names none (--session ID names one)"


def _queue_if_ours(service: RepositoryService, notice: Notice) -> bool:
    """Queue the follow-up if the notice is ours. False if that is still unknown.

    A clone carries other people's notices: only a session that is or was here can wait for one.
    """
    key = fix_key(notice)
    if service.board.is_fix_followed_up(key):
        return True
    placed_by, checkout = _find_waiting(service, notice)
    if checkout is None:
        return True
    is_ours = _is_checkout(service, checkout) if placed_by is None else True
    if is_ours:
        service.board.follow_up(notice.session_id, checkout, fix_text(notice), service.now(), key)
    return is_ours is not None


def _find_waiting(service: RepositoryService, notice: Notice) -> tuple[Episode | None, str | None]:
    """The session that waits, if it is known here, and its checkout."""
    placed_by = service.board.find_episode(notice.session_id) if notice.session_id else None
    said = notice.fields.get(CHECKOUT_FIELD)
    return placed_by, placed_by.checkout if placed_by else said if isinstance(said, str) else None


def _is_checkout(service: RepositoryService, root: str) -> bool | None:
    """Whether the repository has a checkout there. None if that is unknown, as with worktree entries that git skips."""
    try:
        listed = service.context.worktrees()
    except MajordomusError:
        return None
    if root in {to_wire(checkout.root) for checkout in listed}:
        return True
    entries = unlisted_entries(service.common_dir, listed)
    return None if isinstance(entries, Unknown) or (isinstance(entries, Known) and entries.value) else False
