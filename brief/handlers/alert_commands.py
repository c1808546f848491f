"""The commands that change notices: add one, set it to done, acknowledge it, archive it."""

from __future__ import annotations

import contextlib
import shlex
from datetime import datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from msgspec import Meta

from brief.core.model.errors import (
    ConflictError,
    MajordomusError,
    NotFoundError,
    StoreError,
    SupersededError,
    UsageError,
)
from brief.core.model.wire import Wire
from brief.core.notices.follow_up import fix_key
from brief.core.notices.notice import Audience, Kind, Notice, NoticeStatus, Recurring, Severity
from brief.core.notices.notice_text import end_last_line
from brief.core.notices.relevance import find_fault
from brief.core.notices.visibility import Hidden, Shown, decide_visibility, may_be_acknowledged, never_shown
from brief.core.text.sanitize import clean, to_wire
from brief.handlers.fixes import CHECKOUT_FIELD, describe_recipient, queue_fix_follow_up, queue_fix_follow_ups
from brief.handlers.inputs import SessionInputs, Words
from brief.notices.archiving import move, why_not_archivable
from brief.notices.finding import Found, find, read_content
from brief.notices.folder_lock import lock_folder
from brief.notices.read_receipts import mark_acknowledged
from brief.notices.writing import create_notice, preview_notice, set_done
from brief.request import RequestContext
from brief.sections.episode_meant import find_meant
from brief.service import RepositoryService
from brief.support.daemon_threads import in_thread
from brief.support.zone import find_zone_in_force

BUG_DEP_PRIORITY = 8


class AddInputs(SessionInputs, frozen=True, kw_only=True):
    """The notice to leave for others."""

    title: Annotated[Words, Meta(description="what the notice says, in one line")]
    component: Annotated[str, Meta(max_length=200, description="component that the notice is about")] | None = None
    kind: Annotated[Kind, Meta(description="kind of notice (default: alert); use majordomus lock place for a lock")] = (
        Kind.ALERT
    )
    body: Annotated[str, Meta(max_length=100_000, description="further text, in Markdown")] = ""
    priority: (
        Annotated[
            int, Meta(ge=0, le=10, description="priority, 0 to 10; higher comes first (default: 5, or 8 for a bug-dep)")
        ]
        | None
    ) = None
    severity: (
        Annotated[
            Severity,
            Meta(
                description="how long a notice without dates is shown: high 999 days, normal 7, low 3 (default: normal)"
            ),
        ]
        | None
    ) = None
    expires: (
        Annotated[
            str,
            Meta(
                max_length=40,
                description="when it expires, YYYY-MM-DD [HH:MM], exclusive: with 2027-01-31 it is last shown on the 30th",
            ),
        ]
        | None
    ) = None
    fires_on: (
        Annotated[
            str,
            Meta(max_length=40, description="when it becomes due and is first shown, YYYY-MM-DD [HH:MM], inclusive"),
        ]
        | None
    ) = None
    recurring: Annotated[Recurring, Meta(description="how often it becomes due again")] | None = None
    audience: (
        Annotated[Audience, Meta(description="who may see it: owner keeps it out of every text for a model")] | None
    ) = None
    applies_when: (
        Annotated[
            str,
            Meta(
                max_length=1_000,
                description="condition for whom it concerns, such as component == 'billing' or paths matches 'src/**' (default: everyone)",
            ),
        ]
        | None
    ) = None
    ticket: Annotated[str, Meta(max_length=200, description="ticket that the notice is about")] | None = None


class NoticeInputs(SessionInputs, frozen=True, kw_only=True):
    """The notice to change."""

    slug: Annotated[Words, Meta(max_length=4_000, description="name of the notice, or the path of its file")]


Deed = Literal["added", "done", "was done", "moved", "acknowledged", "archived"]


class ChangedNotice(Wire, frozen=True):
    """A notice after a command. `did` says what was done with it: `moved` means that it is due again on another day.

    `kind` and `title` are None for an archived file that cannot be read as a notice.
    """

    did: Deed
    slug: str
    kind: Kind | None
    title: str | None
    path: str
    detail: str | None = None


async def add_alert(service: RepositoryService, inputs: AddInputs) -> ChangedNotice:
    """Write a new notice into the repository's own folder. A repeated title makes a second notice."""

    def work() -> ChangedNotice:
        _refuse_unfit(inputs)
        request = service.request_context(inputs.root, inputs.session)
        fields, now, (days, _, _) = (
            _make_fields(inputs, request.query.checkout),
            service.now(),
            find_zone_in_force(request.query.settings),
        )
        if reason := never_shown(preview_notice(fields, now), now, days):
            raise UsageError(reason)
        made = create_notice(request.notice_folders[0], fields, end_last_line(inputs.body), now)
        return _describe_change("added", made.notice, made.path, _what_follows(service, made.notice, now, days))

    return await in_thread(work)


async def end_alert(service: RepositoryService, inputs: NoticeInputs) -> ChangedNotice:
    """Set a notice to done, or a recurring one to its next occurrence. Queues the follow-up for a bug-dep."""

    def work() -> ChangedNotice:
        request = service.request_context(inputs.root, inputs.session)
        days, _, _ = find_zone_in_force(request.query.settings)
        found = _read_if_possible(find(request.notice_folders, inputs.slug))
        _refuse_held(found, request.query.session)
        if found is not None and found.kind is Kind.BUG_DEP:
            with contextlib.suppress(StoreError, SupersededError):
                queue_fix_follow_ups(
                    service, request.query
                )  # so that a bug-dep that was reopened in between gets another follow-up
        done = set_done(request.notice_folders, inputs.slug, service.now(), days)
        if done.was_done and done.fires_on is not None:
            return _describe_change(
                "was done", done.notice, done.path, f"due again on {done.fires_on}; nothing was changed"
            )
        if done.was_done:
            return _describe_change("was done", done.notice, done.path, _queue_late(service, request, done.notice))
        if done.fires_on is not None:
            return _describe_change("moved", done.notice, done.path, f"due again on {done.fires_on}")
        if done.notice.kind is Kind.BUG_DEP:
            return _describe_change(
                "done", done.notice, done.path, queue_fix_follow_up(service, done.notice, request.query.checkout)
            )
        return _describe_change("done", done.notice, done.path)

    return await in_thread(work)


async def acknowledge_alert(service: RepositoryService, inputs: NoticeInputs) -> ChangedNotice:
    """Note that a session has read a courtesy or an alert, so that only other sessions are still shown it."""

    def work() -> ChangedNotice:
        request = service.request_context(inputs.root, inputs.session)
        session = find_meant(service.context, request.query)
        found = find(request.notice_folders, inputs.slug)
        _, notice = read_content(found.file)
        if not may_be_acknowledged(notice):
            due = ", due by a day" if notice.kind is Kind.ALERT else ""
            raise UsageError(
                f"{clean(notice.slug)} is of kind {notice.kind}{due}, shown until it is done or its time is over: "
                f"{_way_to_end(notice)}"
            )
        is_new = mark_acknowledged(service.context.state_dir, session, notice.slug)
        before = "" if is_new else ", who had read it before"
        return _describe_change("acknowledged", notice, found.file.path, f"by session {clean(session, 60)}{before}")

    return await in_thread(work)


async def archive_alert(service: RepositoryService, inputs: NoticeInputs) -> ChangedNotice:
    """Move a notice to the archive, whatever its dates say, or a file that cannot be read as one."""

    def work() -> ChangedNotice:
        request = service.request_context(inputs.root, inputs.session)
        found = find(request.notice_folders, inputs.slug)
        if reason := why_not_archivable(found.folder, even_tracked=request.query.settings.alerts.archive_tracked):
            raise ConflictError(f"{clean(inputs.slug)} stays: {reason}")
        with lock_folder(found.folder):
            notice = _read_if_possible(found)
            _refuse_held(notice, request.query.session)
            _queue_before_archiving(service, request, notice)
            path = move(found.folder, found.file.path)
        if path is None:
            raise NotFoundError(f"{clean(inputs.slug)} no longer exists: it was archived or removed meanwhile")
        if notice is None:
            return ChangedNotice(did="archived", slug=found.file.slug, kind=None, title=None, path=to_wire(path))
        return _describe_change("archived", notice, path)

    return await in_thread(work)


def _refuse_unfit(inputs: AddInputs) -> None:
    """Raise UsageError for a notice that could be written, but would not be read as it is meant."""
    if inputs.kind is Kind.LOCK:
        raise UsageError("kind lock is placed with majordomus lock place COMPONENT, which lets only one hold it")
    if inputs.kind is Kind.BUG_DEP and not (inputs.component and inputs.ticket):
        raise UsageError("kind bug-dep needs --component and --ticket: what waits, and for what")
    if not clean(inputs.title):
        raise UsageError("title: a notice needs one; say in a line what the others have to know")
    if broken := find_fault(inputs.applies_when):
        raise UsageError(
            f"applies_when: {clean(inputs.applies_when or '', 80)} cannot be used: {broken}; correct it, or leave it out"
        )


def _refuse_held(notice: Notice | None, session: str | None) -> None:
    """Raise ConflictError for the lock of another session, which only that session or `--force` may release."""
    if notice is not None and notice.kind is Kind.LOCK and notice.session_id not in (None, session):
        place = f"majordomus lock release {clean(notice.component or 'COMPONENT', 60)}"
        raise ConflictError(
            f"{clean(notice.slug)} is a lock of session {clean(notice.session_id or '', 60)}, which ends it with "
            f"{place}; where that session is gone, add --force"
        )


def _way_to_end(notice: Notice) -> str:
    if notice.kind is Kind.LOCK:
        return f"majordomus lock release {clean(shlex.quote(notice.component or 'COMPONENT'), 200)} ends it"
    return f"majordomus alerts done {clean(notice.slug)} ends it"


def _what_follows(service: RepositoryService, notice: Notice, now: datetime, days: ZoneInfo) -> str | None:
    """What happens to a new notice that is not simply shown: who gets the follow-up of a bug-dep, or when it will be shown."""
    if notice.kind is Kind.BUG_DEP:
        return f"once it is done, {describe_recipient(service, notice)}"
    verdict = decide_visibility(notice, now, days)
    if isinstance(verdict, Hidden):
        return f"{verdict.reason}, and is shown from then on; until then majordomus reminders lists it"
    is_overdue = isinstance(verdict, Shown) and verdict.fired and (verdict.urgency or 0) < 0
    return f"due already: {verdict.countdown}" if is_overdue and isinstance(verdict, Shown) else None


def _read_if_possible(found: Found) -> Notice | None:
    """The notice in a file, None if it cannot be read."""
    try:
        return read_content(found.file)[1]
    except MajordomusError:
        return None


_SPELLED = ("severity", "expires", "fires_on", "recurring", "audience", "component", "applies_when", "ticket")


def _make_fields(inputs: AddInputs, checkout: str) -> dict[str, object]:
    """The front matter, in the order in which a person would write it. Fields that are None are left out later."""
    waits = inputs.kind is Kind.BUG_DEP
    return {
        "kind": str(inputs.kind),
        "priority": BUG_DEP_PRIORITY if waits and inputs.priority is None else inputs.priority,
        **{name: str(value) for name in _SPELLED if (value := getattr(inputs, name)) is not None},
        "session_id": inputs.session,
        CHECKOUT_FIELD: checkout if waits else None,
        "title": inputs.title,
    }


def _queue_late(service: RepositoryService, request: RequestContext, notice: Notice) -> str | None:
    """Queue the follow-up for a bug-dep if that was missed when it became done. None if it was queued then."""
    if notice.kind is not Kind.BUG_DEP or service.board.is_fix_followed_up(fix_key(notice)):
        return None
    return queue_fix_follow_up(service, notice, request.query.checkout)


def _queue_before_archiving(service: RepositoryService, request: RequestContext, notice: Notice | None) -> None:
    """Queue the follow-up for a finished bug-dep before its file is moved. Raises StoreError, SupersededError."""
    if notice is not None and notice.kind is Kind.BUG_DEP and notice.status is NoticeStatus.DONE:
        queue_fix_follow_ups(service, request.query)


def _describe_change(did: Deed, notice: Notice, path: str, detail: str | None = None) -> ChangedNotice:
    return ChangedNotice(
        did=did, slug=notice.slug, kind=notice.kind, title=notice.title, path=to_wire(path), detail=detail
    )


def change_text(answer: ChangedNotice) -> str:
    """What was done with the notice, and its path."""
    what = " ".join(part for part in (answer.kind, clean(answer.slug)) if part)
    title = f" ({clean(answer.title)})" if answer.title else ""
    detail = f"; {clean(answer.detail, 400)}" if answer.detail else ""
    did = {"moved": "done this time", "was done": "done already"}.get(answer.did, answer.did)
    return f"{did}: {what}{title}{detail}\n{clean(answer.path, 1_000)}\n"
