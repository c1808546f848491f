"""Locks placed, told and released: on each component one stands at a time, and everybody else is told whose it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from brief.core.model.errors import ConflictError, MajordomusError, NotFoundError, UsageError
from brief.core.notices.locks import component_key, lock_slug
from brief.core.notices.notice import Kind, Notice, NoticeStatus, When
from brief.core.text.sanitize import clean, wire
from brief.notices.archiving import move, why_not
from brief.notices.finding import content
from brief.notices.folder import NoticeFile, look
from brief.notices.folder_lock import turn
from brief.notices.writing import Written, check_owner, put, rewrite

MOST_CHARACTERS = 200
"""Characters that the name of a component may have."""

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
    """The caller holds the lock. `unread` are files, with reasons, that may be locks and could not be read."""

    notice: Notice
    path: str
    unread: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Held:
    """The lock stands already: its file, and the notice in it, None with a `fault` where that cannot be read."""

    component: str
    path: str
    notice: Notice | None
    fault: str | None = None

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
    """The locks that stand, with their files, and the files, with reasons, that may be some and could not be read."""

    locks: tuple[tuple[Notice, str], ...]
    unread: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Released:
    """A lock that is done, and where its file is now: in the archive, unless the folder may not be tidied."""

    notice: Notice | None
    path: str


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file that was looked at for locks: its notice, or why there is none."""

    folder: str
    file: NoticeFile
    notice: Notice | None
    fault: str | None


# ---------------------------------------------------------------- place


def place(folders: Sequence[str], request: Request, now: datetime, stands: Stands) -> Placed | Held:
    """Place a lock on a component where none stands; of callers at the same time one places it.

    It goes into the first of the folders, the repository's own; locks in all of them count, whoever wrote them.
    Raises UsageError for what cannot be a lock, NoticeError, GaveUpError.
    """
    fields = _fields(request, now)
    with turn(folders[0]):
        seen = list(_all(folders))
        if held := _holder(seen, request.component, stands):
            return held
        made = _put(folders[0], fields, request, now)
    return Placed(made.notice, made.path, _unread(seen))


def _fields(request: Request, now: datetime) -> dict[str, Any]:
    component = component_key(request.component)
    if not component or len(component) > MOST_CHARACTERS or clean(component) != component:
        raise UsageError(
            f"component: {clean(request.component, 60) or 'an empty name'} cannot be locked; "
            f"name it in at most {MOST_CHARACTERS} characters, all of them visible"
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


def _put(folder: str, fields: dict[str, Any], request: Request, now: datetime) -> Written:
    name = lock_slug(request.component)
    made = put(folder, name, fields, request.body, now)
    if made is None:  # the last lock on it, which stands no longer
        move(folder, f"{folder}/active/{name}.md")
        made = put(folder, name, fields, request.body, now)
    if made is None:
        raise ConflictError(f"another lock on {fields['component']} was placed at this moment; see it, and try again")
    return made


def _holder(seen: Sequence[_Seen], component: str, stands: Stands) -> Held | None:
    """The lock that stands in the way; a damaged file that has the very name of this lock is one."""
    key, name = component_key(component), lock_slug(component)
    for each in seen:
        if each.notice and component_key(each.notice.component) == key and stands(each.notice):
            return Held(key, each.file.path, each.notice)
    damaged = (each for each in seen if each.notice is None and each.file.slug == name)
    return next((Held(key, each.file.path, None, each.fault) for each in damaged), None)


# ---------------------------------------------------------------- release


def release(
    folders: Sequence[str],
    component: str,
    session_id: str | None,
    *,
    stands: Stands,
    force: bool = False,
    even_tracked: bool = False,
) -> tuple[Released, ...]:
    """Set the session's locks on a component to done and archive them; with `force` everybody's.

    Raises NotFoundError where there is no lock, ConflictError where only others hold one, NoticeError, GaveUpError.
    """
    with ExitStack() as turns:
        # Every command takes the turns in this order, so that no two wait for each other.
        for folder in sorted({os.path.realpath(folder) for folder in folders if os.path.isdir(folder)}):
            turns.enter_context(turn(folder))
        seen = [each for each in _all(folders) if _is_on(each, component)]
        own = [each for each in seen if force or (each.notice and _is_same(each.notice.session_id, session_id))]
        if not own:
            raise _not_released(seen, component, stands)
        return tuple(_released(each, even_tracked=even_tracked) for each in own)


def _is_on(each: _Seen, component: str) -> bool:
    """Whether a file is an active lock on the component, or a damaged one that has the very name of it."""
    if each.notice is None:
        return each.file.slug == lock_slug(component)
    is_lock = each.notice.kind is Kind.LOCK and each.notice.status is NoticeStatus.ACTIVE
    return is_lock and component_key(each.notice.component) == component_key(component)


def _is_same(one: str | None, other: str | None) -> bool:
    """Whether both are the id of one session, which none is not."""
    return bool(one) and (one or "").strip().lower() == (other or "").strip().lower()


def _not_released(seen: Sequence[_Seen], component: str, stands: Stands) -> MajordomusError:
    held = _holder(seen, component, stands)
    name = clean(component, 60)
    if held is None:
        return NotFoundError(f"no lock stands on {name}; majordomus lock status lists those that do")
    if held.fault:
        return ConflictError(f"the lock on {name} cannot be read ({held.fault}); mend it, or release it with --force")
    holder = clean(held.session_id or "", 60)
    whose = f"session {holder}" if holder else "nobody by name"
    return ConflictError(f"the lock on {name} is held by {whose}; that session releases it, or you do with --force")


def _released(each: _Seen, *, even_tracked: bool) -> Released:
    notice = each.notice
    if notice is not None:
        raw, _ = content(each.file)
        notice = rewrite(each.file, raw, {"status": str(NoticeStatus.DONE)})
    if why_not(each.folder, even_tracked=even_tracked):
        return Released(notice, each.file.path)
    return Released(notice, move(each.folder, each.file.path) or each.file.path)


# ---------------------------------------------------------------- what stands


def standing(folders: Sequence[str], stands: Stands) -> LockState:
    """The locks that stand in the folders now."""
    seen = list(_all(folders))
    locks = tuple((each.notice, each.file.path) for each in seen if each.notice and stands(each.notice))
    return LockState(locks, _unread(seen))


def _all(folders: Sequence[str]) -> Iterator[_Seen]:
    """Every notice of the folders, read now: what another process wrote a moment ago counts."""
    for folder in folders:
        for file in look(folder).files:
            try:
                yield _Seen(folder, file, content(file)[1], None)
            except NotFoundError:
                continue
            except MajordomusError as error:
                yield _Seen(folder, file, None, str(error))


def _unread(seen: Sequence[_Seen]) -> tuple[tuple[str, str], ...]:
    return tuple((wire(each.file.path), each.fault) for each in seen if each.fault)
