"""The locks of a session, and the bugs it waits for, in the name of the session that goes on in its client."""

from __future__ import annotations

from collections.abc import Iterable

from brief.core.notices.notice import Kind, Notice, NoticeStatus
from brief.notices.finding import content, find
from brief.notices.folder_lock import turn
from brief.notices.writing import rewrite

_KINDS = (Kind.LOCK, Kind.BUG_DEP)


def is_held_by(notice: Notice, session: str) -> bool:
    """Whether a notice is an active lock of a session, or a bug that it waits for."""
    return notice.kind in _KINDS and notice.status is NoticeStatus.ACTIVE and notice.session_id == session


def pass_on(folder: str, slugs: Iterable[str], before: str, after: str) -> None:
    """Write the session `after` into the notices of these slugs that are held by `before`; raises MajordomusError."""
    with turn(folder):
        for slug in slugs:
            file = find([folder], slug).file
            raw, notice = content(file)
            if is_held_by(notice, before):
                rewrite(file, raw, {"session_id": after})
