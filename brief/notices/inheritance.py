"""The locks of a session, and the bugs it waits for, in the name of the session that goes on in its client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from brief.core.model.errors import MajordomusError
from brief.core.notices.notice import Kind, Notice, NoticeStatus
from brief.core.sessions.succession import last_heir
from brief.notices.finding import content, find
from brief.notices.folder import is_linked
from brief.notices.folder_lock import NoticeError, turn
from brief.notices.writing import rewrite

_KINDS = (Kind.LOCK, Kind.BUG_DEP)


def heir_of(notice: Notice, successors: Mapping[str, str]) -> str | None:
    """The session that is to hold a notice whose own session was succeeded; None for any other.

    Only an active lock is held, and a bug that somebody waits for.
    """
    if notice.kind not in _KINDS or notice.status is not NoticeStatus.ACTIVE or notice.session_id is None:
        return None
    return last_heir(notice.session_id, successors)


def pass_on(folder: str, slugs: Iterable[str], successors: Mapping[str, str]) -> tuple[str, ...]:
    """Write the heirs into the notices of these slugs; a sentence for each that could not be written.

    Raises NoticeError or GaveUpError where the folder cannot be held.
    """
    if reason := is_linked(folder, "active"):
        raise NoticeError(f"{folder}: {reason}")
    faults = []
    with turn(folder):
        for slug in slugs:
            try:
                _pass_on_one(folder, slug, successors)
            except MajordomusError as fault:
                faults.append(fault.sentence)
    return tuple(faults)


def _pass_on_one(folder: str, slug: str, successors: Mapping[str, str]) -> None:
    file = find([folder], slug).file
    raw, notice = content(file)
    heir = heir_of(notice, successors)
    if heir is not None:
        rewrite(file, raw, {"session_id": heir})
