"""Place, list and release locks. Each component has at most one lock at a time; other callers learn who holds it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from brief.core.model.errors import ConflictError, MajordomusError, NotFoundError, UsageError
from brief.core.notices.component import component_key, component_name
from brief.core.notices.days import begin_of
from brief.core.notices.locks import lock_slug
from brief.core.notices.notice import Kind, Notice, NoticeStatus, When
from brief.core.notices.unread import Unread
from brief.core.text.sanitize import clean
from brief.notices.archiving import move, why_not_archivable
from brief.notices.finding import read_content
from brief.notices.folder import NoticeFile
from brief.notices.folder_lock import lock_folder
from brief.notices.lock_survey import LockFile, Survey, survey_locks
from brief.notices.writing import Written, check_owner, put, rewrite

MOST_CHARACTERS = 200
"""The longest name of a component, in characters."""

_UTC = ZoneInfo("UTC")

IsHeld = Callable[[Notice], bool]
"""Whether a notice is a lock that is held now. The caller decides: it knows the time, the zone and which sessions live."""


class Request(Struct, frozen=True, kw_only=True):
    """A lock that a session asks for. `ttl` is how long it holds, None for no limit. `priority` is 0 to 10."""

    component: str
    session_id: str
    title: str | None = None
    body: str = ""
    ttl: timedelta | None = None
    priority: int | None = None


class Placed(Struct, frozen=True):
    """The caller has the lock. `unread` lists what could not be read and may be other locks."""

    notice: Notice
    path: str
    unread: Unread


class Held(Struct, frozen=True):
    """A lock that was already held: its file, and the notice in it, or None and a `fault` if that cannot be read.

    `component` is as the lock spells it. `is_extended` means that its own session asked again, and it now holds longer.
    """

    component: str
    file: NoticeFile
    notice: Notice | None
    fault: str | None = None
    is_extended: bool = False

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.file.path

    def is_of(self, session_id: str | None) -> bool:
        """Whether a session holds it."""
        return _is_same(self.session_id, session_id)

    @property
    def session_id(self) -> str | None:
        """The session that holds it. None if the lock does not say."""
        return self.notice.session_id if self.notice else None

    @property
    def since(self) -> When | None:
        """When it was placed. None if the lock does not say."""
        return self.notice.created if self.notice else None


class LockState(Struct, frozen=True):
    """The locks that are held, with their paths. `unread` lists what could not be read and may be more locks."""

    locks: tuple[tuple[Notice, str], ...]
    unread: Unread


class Released(Struct, frozen=True):
    """A released lock, and the path of its file: in the archive, unless the folder must not be changed."""

    notice: Notice | None
    path: str


class Releases(Struct, frozen=True):
    """The locks that were released. `unread` lists what could not be read and may be other locks."""

    locks: tuple[Released, ...]
    unread: Unread


# ---------------------------------------------------------------- place


def take_lock(
    folders: Sequence[str], request: Request, now: datetime, is_held: IsHeld, zone: ZoneInfo = _UTC
) -> Placed | Held:
    """Place a lock on a component that has none. Of several callers at the same time, one gets it.

    The lock is written to the first folder, the repository's own, but locks in all folders count. If the session holds the
    lock already, a `ttl` that ends later extends it. `zone` is the time zone of its dates.
    Raises UsageError if the request is not valid, ConflictError if it is unknown whether the component is locked, and
    NoticeError and GaveUpError.
    """
    fields = _make_fields(request, now)
    with lock_folder(folders[0]):
        found = survey_locks(folders, request.component)
        if held := _find_holder(found.files, request.component, is_held):
            return _extend(held, request, fields["expires"], zone)
        if found.unlisted:
            raise ConflictError(_describe_unlisted(found, request.component))
        made = _put(folders[0], fields, request, now, found)
    return Placed(made.notice, made.path, found.unread)


def _extend(held: Held, request: Request, end: datetime | None, zone: ZoneInfo) -> Held:
    """Extend the lock to `end` if the asking session holds it. Any other lock stays as it is, and none is shortened."""
    lock = held.notice
    if lock is None or end is None or lock.expires is None or not held.is_of(request.session_id):
        return held
    if begin_of(lock.expires, zone) >= end:
        return held
    raw, _ = read_content(held.file)
    return replace(held, notice=rewrite(held.file, raw, {"expires": end}), is_extended=True)


def _describe_unlisted(found: Survey, component: str) -> str:
    folders = "; ".join(f"{folder} {reason}" for folder, reason in found.unlisted)
    return f"{clean(component, 60)} may be locked, which is unknown: {folders}; fix that, and try again"


def _make_fields(request: Request, now: datetime) -> dict[str, Any]:
    component = component_name(request.component)
    if not component or len(component) > MOST_CHARACTERS or clean(component) != component:
        raise UsageError(
            f"component: {clean(request.component, 60) or 'an empty name'} cannot be locked; "
            f"name it in at most {MOST_CHARACTERS} characters, all of them visible, "
            "without anything that looks like a tag"
        )
    session = request.session_id.strip()
    check_owner(session)
    return {
        "kind": str(Kind.LOCK),
        "status": str(NoticeStatus.ACTIVE),
        "priority": request.priority,
        "title": clean(request.title or "") or f"{component} is locked",
        "component": component,
        "session_id": session,
        "expires": _end(request.ttl, now),
    }


def _end(ttl: timedelta | None, now: datetime) -> datetime | None:
    """The first full second at which a lock no longer holds, None if it holds until it is released."""
    if ttl is None:
        return None
    try:
        end = now.astimezone(UTC) + ttl + timedelta(microseconds=999_999)
    except OverflowError:
        raise UsageError(
            f"ttl: {ttl.days:,} days end after the year 9999; leave it out for a lock without an end"
        ) from None
    if ttl <= timedelta(0):
        raise UsageError("ttl: a lock must hold for some time; give a span above 0, or leave it out for no end")
    return end.replace(microsecond=0)


def _put(folder: str, fields: dict[str, Any], request: Request, now: datetime, found: Survey) -> Written:
    name = lock_slug(request.component)
    made = put(folder, name, fields, request.body, now)
    if made is None and any(each.notice and (each.folder, each.file.slug) == (folder, name) for each in found.files):
        # It was read: it is the previous lock on the component, which is no longer held.
        move(folder, f"{folder}/active/{name}.md")
        made = put(folder, name, fields, request.body, now)
    if made is None:
        raise ConflictError(
            f"another lock on {fields['component']} was placed at the same moment; look at it, and try again"
        )
    return made


def _find_holder(files: Sequence[LockFile], component: str, is_held: IsHeld) -> Held | None:
    """The lock that is held on a component. An unreadable file that may be this lock counts as held."""
    key = component_key(component)
    for each in files:
        if each.notice and component_key(each.notice.component) == key and is_held(each.notice):
            return Held(component_name(each.notice.component), each.file, each.notice)
    damaged = (each for each in files if each.may_be_on(component))
    return next((Held(component_name(component), each.file, None, each.fault) for each in damaged), None)


# ---------------------------------------------------------------- release


def release_locks(
    folders: Sequence[str],
    component: str,
    session_id: str | None,
    *,
    is_held: IsHeld,
    force: bool = False,
    even_tracked: bool = False,
) -> Releases:
    """Set a session's locks on a component to done and archive them. With `force`, those of other sessions too.

    Raises NotFoundError if there is no lock, ConflictError if only others hold one, and NoticeError and GaveUpError.
    """
    with ExitStack() as turns:
        # Every command locks the folders in this order, so that no two wait for each other.
        for folder in sorted({os.path.realpath(folder) for folder in folders if os.path.isdir(folder)}):
            turns.enter_context(lock_folder(folder))
        found = survey_locks(folders, component)
        on_it = [each for each in found.files if _is_on(each, component)]
        own = [each for each in on_it if force or (each.notice and _is_same(each.notice.session_id, session_id))]
        if not own:
            raise _not_released(on_it, component, is_held, found.unread)
        return Releases(tuple(_release_one(each, even_tracked=even_tracked) for each in own), found.unread)


def _is_on(each: LockFile, component: str) -> bool:
    """Whether a file is an active lock on the component, or is unreadable and may be one."""
    if each.notice is None:
        return each.may_be_on(component)
    is_lock = each.notice.kind is Kind.LOCK and each.notice.status is NoticeStatus.ACTIVE
    return is_lock and component_key(each.notice.component) == component_key(component)


def _is_same(one: str | None, other: str | None) -> bool:
    """Whether both are the id of the same session. False if there is no id."""
    return bool(one) and (one or "").strip().lower() == (other or "").strip().lower()


def _not_released(files: Sequence[LockFile], component: str, is_held: IsHeld, unread: Unread) -> MajordomusError:
    held = _find_holder(files, component, is_held)
    name = clean(component, 60)
    if held is None and unread:
        return NotFoundError(f"no lock on {name} was found, but {unread.sentence}; majordomus lock status names them")
    if held is None:
        return NotFoundError(f"there is no lock on {name}; see majordomus lock status")
    if held.fault:
        return ConflictError(f"the lock on {name} cannot be read ({held.fault}); fix it, or release it with --force")
    holder = clean(held.session_id or "", 60)
    whose = f"session {holder}" if holder else "a session that it does not name"
    return ConflictError(f"the lock on {name} is held by {whose}; leave it to that session, or release it with --force")


def _release_one(each: LockFile, *, even_tracked: bool) -> Released:
    notice = each.notice
    if notice is not None:
        raw, _ = read_content(each.file)
        notice = rewrite(each.file, raw, {"status": str(NoticeStatus.DONE)})
    if why_not_archivable(each.folder, even_tracked=even_tracked):
        return Released(notice, each.file.path)
    return Released(notice, move(each.folder, each.file.path) or each.file.path)


# ---------------------------------------------------------------- list


def find_held(folders: Sequence[str], is_held: IsHeld) -> LockState:
    """The locks in the folders that are held now."""
    found = survey_locks(folders)
    locks = tuple((each.notice, each.file.path) for each in found.files if each.notice and is_held(each.notice))
    return LockState(locks, found.unread)
