"""Place, release, list and audit locks."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from brief.core.model.errors import ANSWERED, FAILED, NOT_ALL_READ, ConflictError
from brief.core.model.wire import Wire
from brief.core.notices.component import component_name
from brief.core.notices.days import spell_when
from brief.core.notices.locks import LockClass, lock_class, must_name_owner
from brief.core.notices.notice import Audience, Notice
from brief.core.notices.notice_text import end_last_line
from brief.core.notices.unread import Unread
from brief.core.notices.visibility import is_held
from brief.core.sessions.life import Life
from brief.core.text.sanitize import clean, to_wire
from brief.handlers.inputs import SessionInputs, Words
from brief.notices.locking import Held, IsHeld, Placed, Request, find_held, release_locks, take_lock
from brief.request import RequestContext
from brief.sections.alerts import lock_owners, unread_folders
from brief.sections.context import own_episode
from brief.sections.episode_meant import find_meant
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread
from brief.support.zone import find_zone_in_force

FOR_THE_OWNER = "its text is for the owner alone"


class PlaceInputs(SessionInputs, frozen=True, kw_only=True):
    """The lock to place."""

    component: Annotated[
        Words, Meta(max_length=200, description="component that nobody else may change while the lock is held")
    ]
    title: Annotated[str, Meta(max_length=200, description="why you lock it, in one line")] | None = None
    body: Annotated[str, Meta(max_length=100_000, description="further text, in Markdown")] = ""
    ttl: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=525_600,
                description="minutes until the lock expires; placing your own lock again renews it for this long",
            ),
        ]
        | None
    ) = None
    priority: (
        Annotated[int, Meta(ge=0, le=10, description="priority, 0 to 10; higher comes first (default: 5)")] | None
    ) = None


class ReleaseInputs(SessionInputs, frozen=True, kw_only=True):
    """The lock to release."""

    component: Annotated[Words, Meta(max_length=200, description="component that others may change again")]
    force: Annotated[bool, Meta(description="release the lock even if another session holds it")] = False


class LocksInputs(SessionInputs, frozen=True, kw_only=True):
    """The checkout whose folders are searched."""


class Lock(Wire, frozen=True):
    """A lock that is held. `owner` says whether its session lives, `naming` how it names it, `since` is from its file."""

    component: str | None
    slug: str
    title: str
    session_id: str | None
    since: str | None
    expires: str | None
    owner: Life
    naming: LockClass
    must_name_owner: bool
    path: str


class Locks(Wire, frozen=True):
    """Every lock that is held, the files that may be locks and could not be read, and the folders not read in full.

    `unread_summary` counts both in a sentence, and is empty if all was read.
    """

    locks: tuple[Lock, ...]
    unread: tuple[str, ...]
    unlisted: tuple[str, ...] = ()
    unread_summary: str = ""

    @property
    def fully_read(self) -> bool:
        """Whether every file that may be a lock was read."""
        return not (self.unread or self.unlisted)


class OneLock(Wire, frozen=True):
    """A lock after a command."""

    did: str
    component: str
    slug: str
    session_id: str | None
    path: str
    expires: str | None = None
    unread: tuple[str, ...] = ()


async def place_lock(service: RepositoryService, inputs: PlaceInputs) -> OneLock:
    """Place a lock. Of several callers at the same time one gets it, and the others learn who holds it."""

    def work() -> OneLock:
        request, owner = service.request_context(inputs.root, inputs.session), lock_owners(service.context)
        days, _, _ = find_zone_in_force(request.query.settings)
        is_in_force = _make_held_test(service, request, owner)
        own = own_episode(service.context, request.query)
        session = inputs.session or (own.episode.id if own is not None else "")
        placed = take_lock(request.notice_folders, _make_request(inputs, session), service.now(), is_in_force, days)
        if isinstance(placed, Placed):
            return _describe_change(
                "placed",
                component_name(inputs.component),
                placed.notice,
                placed.path,
                _list_unread(placed.unread, request),
            )
        if placed.is_of(session or None):
            did = "extended" if placed.is_extended else "held already"
            return _describe_change(did, placed.component, placed.notice, placed.path)
        raise ConflictError(_describe_holder(placed, owner))

    return await in_thread(work)


async def release_lock(service: RepositoryService, inputs: ReleaseInputs) -> OneLock:
    """Release the session's lock on a component."""

    def work() -> OneLock:
        request, owner = service.request_context(inputs.root, inputs.session), lock_owners(service.context)
        session = None if inputs.force and inputs.session is None else find_meant(service.context, request.query)
        released = release_locks(
            request.notice_folders,
            inputs.component,
            session,
            is_held=_make_held_test(service, request, owner),
            force=inputs.force,
            even_tracked=request.query.settings.alerts.archive_tracked,
        )
        first, unread = released.locks[0], _list_unread(released.unread, request)
        name = first.notice.component if first.notice else inputs.component
        return _describe_change("released", component_name(name), first.notice, first.path, unread)

    return await in_thread(work)


async def list_locks(service: RepositoryService, inputs: LocksInputs) -> Locks:
    """Every lock that is held, with its owner."""

    def work() -> Locks:
        request, owner = service.request_context(inputs.root, inputs.session), lock_owners(service.context)
        found = find_held(request.notice_folders, _make_held_test(service, request, owner))
        unread = _with_unread_folders(found.unread, request)
        days, _, _ = find_zone_in_force(request.query.settings)
        since = request.query.settings.alerts.lock_owner_since
        return Locks(
            locks=tuple(
                _lock(lock, path, owner(lock), must=must_name_owner(lock, since, days)) for lock, path in found.locks
            ),
            unread=Unread(found.unread.files).reasons,
            unlisted=Unread(folders=unread.folders).reasons,
            unread_summary=unread.sentence,
        )

    return await in_thread(work)


def _make_request(inputs: PlaceInputs, session: str) -> Request:
    ttl = timedelta(minutes=inputs.ttl) if inputs.ttl is not None else None
    return Request(
        component=inputs.component,
        session_id=session,
        title=inputs.title,
        body=end_last_line(inputs.body),
        ttl=ttl,
        priority=inputs.priority,
    )


def _make_held_test(service: RepositoryService, request: RequestContext, owner: Callable[[Notice], Life]) -> IsHeld:
    """The test whether a lock is held now, by the time zone of the checkout and the life of its owner."""
    days, _, _ = find_zone_in_force(request.query.settings)
    return lambda lock: is_held(lock, service.clock.earliest(), days, owner(lock))


def _list_unread(unread: Unread, request: RequestContext) -> tuple[str, ...]:
    """A line for each file or folder that was not read and may hold locks."""
    return _with_unread_folders(unread, request).reasons


def _with_unread_folders(unread: Unread, request: RequestContext) -> Unread:
    return replace(unread, folders=(*unread.folders, *unread_folders(request.query)))


def _lock(lock: Notice, path: str, owner: Life, *, must: bool) -> Lock:
    return Lock(
        component=lock.component,
        slug=lock.slug,
        title=_visible_title(lock),
        session_id=lock.session_id,
        since=spell_when(lock.created) if lock.created else None,
        expires=spell_when(lock.expires) if lock.expires else None,
        owner=owner,
        naming=lock_class(lock),
        must_name_owner=must,
        path=to_wire(path),
    )


def _visible_title(lock: Notice) -> str:
    """The title of a lock, unless that is for the owner alone. The lock holds for everybody all the same."""
    return FOR_THE_OWNER if lock.audience is Audience.OWNER else lock.title


def _describe_holder(held: Held, owner: Callable[[Notice], Life]) -> str:
    """A sentence about who holds the lock, whether that session lives, since when, until when, and why."""
    component, lock = clean(held.component, 60), held.notice
    if lock is None:
        why = f"{to_wire(held.path)} cannot be read ({held.fault})"
        return f"{component} may be locked: {why}; fix it, or release it with --force"
    holder = (
        f"session {clean(lock.session_id, 60)}, owner {owner(lock)}"
        if lock.session_id
        else "a session it does not name"
    )
    since = f", since {spell_when(lock.created)}" if lock.created else ""
    until = f", until {spell_when(lock.expires)}" if lock.expires else ""
    text = f"{component} is locked by {holder}{since}{until}: {clean(_visible_title(lock), 120)} ({to_wire(held.path)})"
    is_gone = lock.session_id is not None and owner(lock) is Life.GONE
    return f"{text}; {release_of_gone(held.component)}" if is_gone else text


def release_of_gone(component: str) -> str:
    """The advice for a lock whose session is gone."""
    return f"that session is gone, so majordomus lock release {clean(shlex.quote(component), 200)} --force frees it"


def _describe_change(
    did: str, component: str, notice: Notice | None, path: str, unread: tuple[str, ...] = ()
) -> OneLock:
    return OneLock(
        did=did,
        component=component,
        slug=notice.slug if notice else "",
        session_id=notice.session_id if notice else None,
        path=to_wire(path),
        expires=spell_when(notice.expires) if notice and notice.expires else None,
        unread=unread,
    )


def one_text(answer: OneLock) -> str:
    """What was done with the lock, and what could not be read."""
    holder = f", session {clean(answer.session_id, 60)}" if answer.session_id else ""
    unread = "".join(f"could not be read, and may be a lock: {clean(line, 400)}\n" for line in answer.unread)
    no_end = ", until it is released" if answer.did == "held already" else ""
    until = f", until {answer.expires}" if answer.expires else no_end
    return f"{answer.did}: lock on {clean(answer.component, 60)}{holder}{until}\n{clean(answer.path, 1_000)}\n{unread}"


def status_text(answer: Locks) -> str:
    """The number of known locks, a line for each, and what could not be read."""
    count = len(answer.locks)
    known = f" that could be read; {clean(answer.unread_summary, 400)}" if not answer.fully_read else ""
    lines = [f"{count} lock{' is' if count == 1 else 's are'} held{known}"]
    lines += [_lock_line(lock) for lock in answer.locks]
    gone = [lock.component or "COMPONENT" for lock in answer.locks if lock.owner is Life.GONE]
    lines += [f"  {clean(component, 60)}: {release_of_gone(component)}" for component in gone]
    lines += [f"  could not be read, and may be a lock: {clean(line, 400)}" for line in answer.unread]
    lines += [f"  not read in full, and may hold locks: {clean(line, 400)}" for line in answer.unlisted]
    return "\n".join(lines) + "\n"


def _lock_line(lock: Lock) -> str:
    holder = f"session {clean(lock.session_id, 60)}, owner {lock.owner}" if lock.session_id else "no session named"
    since = f", since {lock.since}" if lock.since else ""
    until = f", until {lock.expires}" if lock.expires else ""
    return f"  {clean(lock.component or '?', 60)}: {holder}{since}{until}: {clean(lock.title, 120)} ({clean(lock.slug, 80)})"


def audit_text(answer: Locks) -> str:
    """A line for each lock with how it names its owner: `fail` if it must and does not, `warn` if it need not."""
    lines = [f"{_audit_word(lock)}  {lock.naming:<14} {_lock_line(lock).strip()}" for lock in answer.locks]
    if not answer.fully_read:
        lines.append(f"warn  unread         {clean(answer.unread_summary, 400)}")
    lines += [f"warn  unread         {clean(line, 400)}" for line in (*answer.unread, *answer.unlisted)]
    return "\n".join(lines or ["ok    no lock is held"]) + "\n"


def _audit_word(lock: Lock) -> str:
    if lock.naming is LockClass.OK:
        return "ok  "
    return "fail" if lock.must_name_owner else "warn"


def audit_exit(answer: Locks) -> int:
    """The exit code of a strict audit: 1 if a lock must name its owner and does not, 10 if a folder was not read.

    A single unreadable file is only reported.
    """
    if any(lock.must_name_owner and lock.naming is not LockClass.OK for lock in answer.locks):
        return FAILED
    return NOT_ALL_READ if answer.unlisted else ANSWERED
