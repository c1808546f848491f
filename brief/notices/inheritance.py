"""Pass the locks of a session, and the bugs it waits for, on to its successor in the same client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from brief.core.model.errors import MajordomusError
from brief.core.notices.notice import Kind, Notice, NoticeStatus
from brief.core.sessions.succession import last_heir
from brief.notices.finding import find, read_content
from brief.notices.folder import is_linked
from brief.notices.folder_lock import NoticeError, lock_folder
from brief.notices.writing import rewrite

_KINDS = (Kind.LOCK, Kind.BUG_DEP)


def heir_of(notice: Notice, successors: Mapping[str, str]) -> str | None:
    """The session that inherits a notice from one that was succeeded. None if nobody inherits it.

    Only active locks and bug-deps are inherited.
    """
    if notice.kind not in _KINDS or notice.status is not NoticeStatus.ACTIVE or notice.session_id is None:
        return None
    return last_heir(notice.session_id, successors)


def pass_on(folder: str, slugs: Iterable[str], successors: Mapping[str, str]) -> tuple[str, ...]:
    """Write the heirs into the notices with these slugs. Returns a sentence for each that could not be written.

    Raises NoticeError or GaveUpError if the folder cannot be locked.
    """
    if reason := is_linked(folder, "active"):
        raise NoticeError(f"{folder}: {reason}")
    faults = []
    with lock_folder(folder):
        for slug in slugs:
            try:
                _pass_on_one(folder, slug, successors)
            except MajordomusError as fault:
                faults.append(fault.sentence)
    return tuple(faults)


def _pass_on_one(folder: str, slug: str, successors: Mapping[str, str]) -> None:
    file = find([folder], slug).file
    raw, notice = read_content(file)
    heir = heir_of(notice, successors)
    if heir is not None:
        rewrite(file, raw, {"session_id": heir})
