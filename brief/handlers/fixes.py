"""Who waits for a bug-dep is told that it is done, once, however it became so: by a command or by an edit of its file.

That it is done stands in the file. What was told of it stands in the database, together with the line itself. Whatever is
done and was not told is made up for at the next look, also after a kill between the two.
"""

from __future__ import annotations

import asyncio
import logging

from brief.core.model.errors import MajordomusError, StoreError, SupersededError
from brief.core.notices.follow_up import fix_key, fix_text
from brief.core.notices.notice import Kind, Notice, NoticeStatus
from brief.core.sessions.episode import Episode
from brief.core.text.sanitize import wire
from brief.fastpath.known import Known, Unknown
from brief.git.worktree_entries import unlisted_entries
from brief.notices.store import NoticeSnapshot
from brief.notices.told_fixes import Bugs
from brief.request import RequestContext
from brief.sections.context import SectionQuery
from brief.sections.notice_folders import notice_folders
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread

CHECKOUT_FIELD = "checkout"
"""Where a bug-dep says in which checkout it was placed, so that who works there next can be told."""

log = logging.getLogger(__name__)


def tell_fixes(service: RepositoryService, query: SectionQuery) -> None:
    """Owe a line to whoever waits for a bug-dep in the folders of a checkout that is done and was not told.

    Costs one look at the files where nothing changed. Raises StoreError, SupersededError; the next look tries again.
    """
    tell_fixes_in(service, notice_folders(service.context.state_dir, query))


def tell_fixes_in(service: RepositoryService, folders: tuple[str, ...]) -> None:
    """The same for folders by their names."""
    _tell_of(service, folders, _bugs(service.context.notices(folders)))


def _tell_of(service: RepositoryService, folders: tuple[str, ...], bugs: Bugs) -> None:
    with service.fixes.turn:
        if service.fixes.is_told(folders, bugs):
            return
        done = {fix_key(notice): notice for notice in bugs if notice.status is NoticeStatus.DONE}
        active = {fix_key(notice) for notice in bugs if notice.status is not NoticeStatus.DONE}
        for key in service.fixes.done_before(folders) & active:
            service.board.reopen_fix(key)
        settled = [_tell_if_ours(service, notice) for notice in done.values()]
        if all(settled):
            service.fixes.note(folders, bugs, frozenset(done))


def tell_fixes_soon(service: RepositoryService, request: RequestContext) -> None:
    """The same of the bug-deps that a brief was just composed from; whatever fails is tried again at the next one."""
    folders = request.notice_folders
    snapshot = service.notices.latest(folders)
    if snapshot is None or service.fixes.is_told(folders, bugs := _bugs(snapshot)):
        return

    def work() -> None:
        try:
            _tell_of(service, folders, bugs)
        except MajordomusError as fault:
            log.warning("fixes not told yet", extra={"reason": str(fault)})

    service.fixes.task = asyncio.ensure_future(in_thread(work))


def _bugs(snapshot: NoticeSnapshot) -> Bugs:
    return tuple(notice for notice in snapshot.notices if notice.kind is Kind.BUG_DEP)


def tell_fix(service: RepositoryService, notice: Notice, here: str) -> str:
    """Owe a line for a bug-dep that a command found done, to its session or the next one of its checkout; to whom.

    `here` is the checkout of the command, for a notice that names none. Where it cannot be stored now, it is later.
    """
    try:
        placed_by, checkout = _waits(service, notice)
        if not notice.session_id and not checkout:
            return "nobody is told, since it names no session that waits"
        checkout = checkout or here
        service.board.follow_up(notice.session_id, checkout, fix_text(notice), service.now(), fix_key(notice))
    except (StoreError, SupersededError) as fault:
        return f"who waits for it is told as soon as that can be stored: {fault}"
    if placed_by is not None and placed_by.is_open:
        return f"session {notice.session_id} is told in its next brief"
    return f"the next session of {checkout} is told in its brief"


def who_is_told(service: RepositoryService, notice: Notice) -> str:
    """Who is told once a bug-dep that was just placed is done, and what to do where it names no session."""
    placed_by, checkout = _waits(service, notice)
    if placed_by is not None and placed_by.is_open:
        return f"session {placed_by.id} is told"
    if notice.session_id:
        return f"session {notice.session_id} is told, or the next one of {checkout} where that is not open then"
    return f"the next session of {checkout} is told, since it names none (--session ID names one)"


def _tell_if_ours(service: RepositoryService, notice: Notice) -> bool:
    """Owe the line where the notice is ours; False where that cannot be told yet.

    A clone brings other people's notices along: only who is or was here can wait for one.
    """
    key = fix_key(notice)
    if service.board.is_fix_told(key):
        return True
    placed_by, checkout = _waits(service, notice)
    if checkout is None:
        return True
    is_ours = _is_checkout(service, checkout) if placed_by is None else True
    if is_ours:
        service.board.follow_up(notice.session_id, checkout, fix_text(notice), service.now(), key)
    return is_ours is not None


def _waits(service: RepositoryService, notice: Notice) -> tuple[Episode | None, str | None]:
    """The session that waits, if it is known here, and the checkout where it does."""
    placed_by = service.board.episode(notice.session_id) if notice.session_id else None
    said = notice.fields.get(CHECKOUT_FIELD)
    return placed_by, placed_by.checkout if placed_by else said if isinstance(said, str) else None


def _is_checkout(service: RepositoryService, root: str) -> bool | None:
    """Whether the repository has a checkout there; None where that cannot be told, as with entries that git skips."""
    try:
        listed = service.context.worktrees()
    except MajordomusError:
        return None
    if root in {wire(checkout.root) for checkout in listed}:
        return True
    entries = unlisted_entries(service.common_dir, listed)
    return None if isinstance(entries, Unknown) or (isinstance(entries, Known) and entries.value) else False
