"""Locks placed, told and released: on each component one stands at a time, and everybody else is told whose it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from brief.core.model.errors import ConflictError, MajordomusError, NotFoundError, UsageError
from brief.core.notices.component import component_key, component_name
from brief.core.notices.days import instant
from brief.core.notices.locks import lock_slug
from brief.core.notices.notice import Kind, Notice, NoticeStatus, When
from brief.core.notices.unread import Unread
from brief.core.text.sanitize import clean
from brief.notices.archiving import move, why_not
from brief.notices.finding import content
from brief.notices.folder import NoticeFile
from brief.notices.folder_lock import turn
from brief.notices.lock_survey import LockFile, Survey, survey
from brief.notices.writing import Written, check_owner, put, rewrite

MOST_CHARACTERS = 200
"""Characters that the name of a component may have."""

_UTC = ZoneInfo("UTC")

Stands = Callable[[Notice], bool]
"""Whether a notice is a lock that stands now, as the caller judges it: it knows the clock, the zone and who lives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A lock that a session asks for; `ttl` is how long it holds, None until it is released. `priority` is 0 to 10."""

    component: str
    session_id: str
    title: str | None = None
    body: str = ""
    ttl: timedelta | None = None
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """The caller holds the lock; `unread` is what could not be read and may be other locks."""

    notice: Notice
    path: str
    unread: Unread


@dataclass(frozen=True, slots=True)
class Held:
    """The lock stands already: its file, and the notice in it, None with a `fault` where that cannot be read.

    `component` is as the lock spells it. `is_extended`: its own session asked for it again, and it now holds longer.
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
        """Whether that session holds it."""
        return _is_same(self.session_id, session_id)

    @property
    def session_id(self) -> str | None:
        """The session that holds it; None where the lock does not say."""
        return self.notice.session_id if self.notice else None

    @property
    def since(self) -> When | None:
        """When it was placed; None where the lock does not say."""
        return self.notice.created if self.notice else None


@dataclass(frozen=True, slots=True)
class LockState:
    """The locks that stand, with their files, and what could not be read and may be more of them."""

    locks: tuple[tuple[Notice, str], ...]
    unread: Unread


@dataclass(frozen=True, slots=True)
class Released:
    """A lock that is done, and where its file is now: in the archive, unless the folder may not be tidied."""

    notice: Notice | None
    path: str


@dataclass(frozen=True, slots=True)
class Releases:
    """The locks that were released; `unread` is what could not be read and may be others."""

    locks: tuple[Released, ...]
    unread: Unread


# ---------------------------------------------------------------- place


def place(
    folders: Sequence[str], request: Request, now: datetime, stands: Stands, zone: ZoneInfo = _UTC
) -> Placed | Held:
    """Place a lock on a component where none stands; of callers at the same time one places it.

    It goes into the first of the folders, the repository's own; locks in all of them count, whoever wrote them. Where the
    session holds the lock already, a `ttl` that ends later extends it; `zone` is where its dates are meant.
    Raises UsageError for what cannot be a lock, ConflictError where nobody can tell whether one stands, NoticeError,
    GaveUpError.
    """
    fields = _fields(request, now)
    with turn(folders[0]):
        found = survey(folders, request.component)
        if held := _holder(found.files, request.component, stands):
            return _extended(held, request, fields["expires"], zone)
        if found.unlisted:
            raise ConflictError(_unlisted(found, request.component))
        made = _put(folders[0], fields, request, now, found)
    return Placed(made.notice, made.path, found.unread)


def _extended(held: Held, request: Request, end: datetime | None, zone: ZoneInfo) -> Held:
    """The lock of the session that asks with its end put off to `end`; any other as it is. No lock is ever shortened."""
    lock = held.notice
    if lock is None or end is None or lock.expires is None or not held.is_of(request.session_id):
        return held
    if instant(lock.expires, zone) >= end:
        return held
    raw, _ = content(held.file)
    return replace(held, notice=rewrite(held.file, raw, {"expires": end}), is_extended=True)


def _unlisted(found: Survey, component: str) -> str:
    folders = "; ".join(f"{folder} {reason}" for folder, reason in found.unlisted)
    return f"{clean(component, 60)} may be locked, which is unknown: {folders}; fix that, and try again"


def _fields(request: Request, now: datetime) -> dict[str, Any]:
    component = component_name(request.component)
    if not component or len(component) > MOST_CHARACTERS or clean(component) != component:
        raise UsageError(
            f"component: {clean(request.component, 60) or 'an empty name'} cannot be locked; "
            f"name it in at most {MOST_CHARACTERS} characters, all of them visible, "
            "and nothing in it that reads as a tag"
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
    """The first whole second at which a lock no longer holds."""
    if ttl is None:
        return None
    try:
        end = now.astimezone(UTC) + ttl + timedelta(microseconds=999_999)
    except OverflowError:
        raise UsageError(f"ttl: {ttl.days:,} days lead past the year 9999; leave it out for no end") from None
    if ttl <= timedelta(0):
        raise UsageError("ttl: a lock must hold for some time; give a span above 0, or leave it out for no end")
    return end.replace(microsecond=0)


def _put(folder: str, fields: dict[str, Any], request: Request, now: datetime, found: Survey) -> Written:
    name = lock_slug(request.component)
    made = put(folder, name, fields, request.body, now)
    if made is None and any(each.notice and (each.folder, each.file.slug) == (folder, name) for each in found.files):
        # It was read, and is the last lock on the component, which stands no longer.
        move(folder, f"{folder}/active/{name}.md")
        made = put(folder, name, fields, request.body, now)
    if made is None:
        raise ConflictError(f"another lock on {fields['component']} was placed at this moment; see it, and try again")
    return made


def _holder(files: Sequence[LockFile], component: str, stands: Stands) -> Held | None:
    """The lock that stands in the way; a file that cannot be read and may be the lock on this component is one."""
    key = component_key(component)
    for each in files:
        if each.notice and component_key(each.notice.component) == key and stands(each.notice):
            return Held(component_name(each.notice.component), each.file, each.notice)
    damaged = (each for each in files if each.may_be_on(component))
    return next((Held(component_name(component), each.file, None, each.fault) for each in damaged), None)


# ---------------------------------------------------------------- release


def release(
    folders: Sequence[str],
    component: str,
    session_id: str | None,
    *,
    stands: Stands,
    force: bool = False,
    even_tracked: bool = False,
) -> Releases:
    """Set the session's locks on a component to done and archive them; with `force` everybody's.

    Raises NotFoundError where there is no lock, ConflictError where only others hold one, NoticeError, GaveUpError.
    """
    with ExitStack() as turns:
        # Every command takes the turns in this order, so that no two wait for each other.
        for folder in sorted({os.path.realpath(folder) for folder in folders if os.path.isdir(folder)}):
            turns.enter_context(turn(folder))
        found = survey(folders, component)
        on_it = [each for each in found.files if _is_on(each, component)]
        own = [each for each in on_it if force or (each.notice and _is_same(each.notice.session_id, session_id))]
        if not own:
            raise _not_released(on_it, component, stands, found.unread)
        return Releases(tuple(_released(each, even_tracked=even_tracked) for each in own), found.unread)


def _is_on(each: LockFile, component: str) -> bool:
    """Whether a file is an active lock on the component, or one that cannot be read and may be that."""
    if each.notice is None:
        return each.may_be_on(component)
    is_lock = each.notice.kind is Kind.LOCK and each.notice.status is NoticeStatus.ACTIVE
    return is_lock and component_key(each.notice.component) == component_key(component)


def _is_same(one: str | None, other: str | None) -> bool:
    """Whether both are the id of one session, which none is not."""
    return bool(one) and (one or "").strip().lower() == (other or "").strip().lower()


def _not_released(files: Sequence[LockFile], component: str, stands: Stands, unread: Unread) -> MajordomusError:
    held = _holder(files, component, stands)
    name = clean(component, 60)
    if held is None and unread:
        return NotFoundError(f"no lock on {name} was found, but {unread.sentence}; majordomus lock status names them")
    if held is None:
        return NotFoundError(f"no lock stands on {name}; majordomus lock status lists those that do")
    if held.fault:
        return ConflictError(f"the lock on {name} cannot be read ({held.fault}); fix it, or release it with --force")
    holder = clean(held.session_id or "", 60)
    whose = f"session {holder}" if holder else "nobody by name"
    return ConflictError(f"the lock on {name} is held by {whose}; that session releases it, or you do with --force")


def _released(each: LockFile, *, even_tracked: bool) -> Released:
    notice = each.notice
    if notice is not None:
        raw, _ = content(each.file)
        notice = rewrite(each.file, raw, {"status": str(NoticeStatus.DONE)})
    if why_not(each.folder, even_tracked=even_tracked):
        return Released(notice, each.file.path)
    return Released(notice, move(each.folder, each.file.path) or each.file.path)


# ---------------------------------------------------------------- what stands


def held_locks(folders: Sequence[str], stands: Stands) -> LockState:
    """The locks that stand in the folders now."""
    found = survey(folders)
    locks = tuple((each.notice, each.file.path) for each in found.files if each.notice and stands(each.notice))
    return LockState(locks, found.unread)
