"""Alerts to write: add, set to done, acknowledge, archive, take over from a list of reminders."""

from __future__ import annotations

import os

from pydantic import Field

from brief.answering.alerts import AlertsInputs, looked
from brief.answering.shape import SessionInputs, Words
from brief.core.days import local_day
from brief.core.errors import NotFoundError, UsageError
from brief.core.model import Wire
from brief.core.notice import Audience, Kind, Notice, Recurring, Severity
from brief.core.text.sanitize import clean, wire
from brief.desk import Desk, Look
from brief.notices.archiving import archive
from brief.notices.finding import find
from brief.notices.migrating import migrate
from brief.notices.seen import mark_seen
from brief.notices.writing import create, set_done
from brief.owners.alerts import notice_folders
from brief.threads import in_thread
from brief.zone import zone

BUG_DEP_PRIORITY = 8


class AddInputs(AlertsInputs):
    """The notice to leave for others."""

    title: Words = Field(description="what it says, in a line")
    kind: Kind = Field(default=Kind.ALERT, description="what it is; locks are placed with lock place")
    body: str = Field(default="", max_length=100_000, description="more lines, in Markdown")
    priority: int | None = Field(default=None, ge=0, le=10, description="0 to 10; 5 unless said, 8 for a bug-dep")
    severity: Severity | None = Field(default=None, description="how long it is shown without dates")
    expires: str | None = Field(default=None, max_length=40, description="the day or moment until which it is shown")
    fires_on: str | None = Field(default=None, max_length=40, description="the day or moment from which it is due")
    recurring: Recurring | None = Field(default=None, description="how often it is due again")
    audience: Audience | None = Field(default=None, description="owner keeps it from every text for a model")
    applies_when: str | None = Field(default=None, max_length=1_000, description="whom it concerns, as a rule")
    ticket: str | None = Field(default=None, max_length=200, description="the ticket it is about")


class NoticeInputs(SessionInputs):
    """The notice that is meant."""

    slug: Words = Field(max_length=4_000, description="the name of the notice, or the path of its file")


class MigrateInputs(SessionInputs):
    """The list of reminders to take over."""

    file: Words = Field(max_length=4_000, description="a reminders list in Markdown")


class Noticed(Wire):
    """What became of a notice: `did` is `added`, `done`, `was done`, `moved`, `acknowledged`, `archived` or `left`."""

    did: str
    slug: str
    kind: str
    title: str
    path: str
    detail: str | None = None


class Taken(Wire):
    """What was taken over from a list: the new notices, those that were there, and the lines that were not read."""

    source: str
    added: tuple[str, ...]
    left: tuple[str, ...]
    done: int
    unread: tuple[str, ...]


async def add_alert(desk: Desk, asked: AddInputs) -> Noticed:
    """Write a new notice into the repository's own folder; the same title twice makes two."""

    def work() -> Noticed:
        if asked.kind is Kind.LOCK:
            raise UsageError("kind lock is placed with majordomus lock place COMPONENT, which lets only one hold it")
        if asked.kind is Kind.BUG_DEP and not (asked.component and asked.ticket):
            raise UsageError("kind bug-dep needs --component and --ticket: what waits, and for what")
        look = looked(desk, asked)
        made = create(_folders(desk, look)[0], _fields(asked), _body(asked), desk.now())
        return _noticed("added", made.notice, made.path)

    return await in_thread(work)


async def end_alert(desk: Desk, asked: NoticeInputs) -> Noticed:
    """Set a notice to done, or a recurring one to its next time; who waits for a bug-dep is told."""

    def work() -> Noticed:
        look = desk.look(asked.root, asked.session)
        days, _, _ = zone(look.ask.settings)
        ended = set_done(_folders(desk, look), asked.slug, desk.now(), days)
        if ended.was_done:
            return _noticed("was done", ended.notice, ended.path)
        if ended.fires_on is not None:
            return _noticed("moved", ended.notice, ended.path, f"due again on {ended.fires_on}")
        if ended.notice.kind is Kind.BUG_DEP:
            return _noticed("done", ended.notice, ended.path, _signalled(desk, look, ended.notice))
        return _noticed("done", ended.notice, ended.path)

    return await in_thread(work)


async def acknowledge_alert(desk: Desk, asked: NoticeInputs) -> Noticed:
    """Note that a session has read a courtesy, so that no carrier shows it that session again."""

    def work() -> Noticed:
        look = desk.look(asked.root, asked.session)
        session = desk.episode_meant(look.ask)
        found = find(_folders(desk, look), asked.slug)
        marked = mark_seen(desk.world.state_dir, session, [found.file.slug])
        notice = _active(desk, look, found.file.slug)
        if notice.kind is not Kind.COURTESY:
            raise UsageError(
                f"{clean(notice.slug)} is a {notice.kind}: it is shown until it is done or its time is over"
            )
        detail = f"by session {session}" if marked else f"by session {session} before"
        return _noticed("acknowledged", notice, found.file.path, detail)

    return await in_thread(work)


async def archive_alert(desk: Desk, asked: NoticeInputs) -> Noticed:
    """Move a notice to the archive, whatever its dates say."""

    def work() -> Noticed:
        look = desk.look(asked.root, asked.session)
        found = find(_folders(desk, look), asked.slug)
        tracked_too = look.ask.settings.alerts.archive_tracked
        moved = archive(found.folder, [found.file.slug], even_tracked=tracked_too)
        did, path = ("archived", moved.paths[0]) if moved.paths else ("left", found.file.path)
        return Noticed(did=did, slug=found.file.slug, kind="", title="", path=wire(path), detail=moved.reason)

    return await in_thread(work)


async def migrate_reminders(desk: Desk, asked: MigrateInputs) -> Taken:
    """Take a reminders list over as notices for the owner; what was taken over before is left."""

    def work() -> Taken:
        look = desk.look(asked.root, asked.session)
        days, _, _ = zone(look.ask.settings)
        path = os.path.join(look.here.root, asked.file)
        source = os.path.relpath(path, look.here.root)
        now = desk.now()
        taken = migrate(_folders(desk, look)[0], path, wire(source), now, local_day(now, days))
        return Taken(
            source=wire(source),
            added=tuple(made.notice.slug for made in taken.added),
            left=taken.left,
            done=taken.done,
            unread=tuple(f"line {line.line}: {line.text}: {line.why}" for line in taken.unread),
        )

    return await in_thread(work)


def _folders(desk: Desk, look: Look) -> tuple[str, ...]:
    return notice_folders(desk.world.state_dir, look.ask)


def _fields(asked: AddInputs) -> dict[str, object]:
    """The front matter, in the order in which a person would write it."""
    priority = asked.priority
    if priority is None and asked.kind is Kind.BUG_DEP:
        priority = BUG_DEP_PRIORITY
    named = ("severity", "expires", "fires_on", "recurring", "audience", "component", "applies_when", "ticket")
    chosen = {name: getattr(asked, name) for name in named}
    spelled = {name: str(value) for name, value in chosen.items() if value is not None}
    return {"kind": str(asked.kind), "priority": priority, **spelled, "session_id": asked.session, "title": asked.title}


def _body(asked: AddInputs) -> str:
    return f"{asked.body}\n" if asked.body and not asked.body.endswith("\n") else asked.body


def _signalled(desk: Desk, look: Look, notice: Notice) -> str:
    """Owe the session that placed a bug-dep a line, and say to whom."""
    ticket = clean(notice.ticket or notice.slug, 80)
    about = f" on {clean(notice.component, 60)}" if notice.component else ""
    text = f"fixed in {ticket}{about}: update and resume ({clean(notice.title, 120)})"
    placed_by = next((e for e in _episodes(desk) if e[0] == notice.session_id), None)
    checkout = placed_by[1] if placed_by else look.ask.checkout
    desk.board.signal(notice.session_id, checkout, text, desk.now())
    return f"session {notice.session_id or 'that asks next in ' + checkout} is told with its next brief"


def _episodes(desk: Desk) -> list[tuple[str, str]]:
    open_ones = [one.episode for one in desk.board.known()]
    return [(episode.id, episode.checkout) for episode in (*open_ones, *desk.board.closed(1_000))]


def _active(desk: Desk, look: Look, slug: str) -> Notice:
    shelf = desk.world.notices(_folders(desk, look))
    notice = next((notice for notice in shelf.notices if notice.slug == slug), None)
    if notice is None:
        raise NotFoundError(f"{clean(slug)} cannot be read as a notice; majordomus alerts list says why")
    return notice


def _noticed(did: str, notice: Notice, path: str, detail: str | None = None) -> Noticed:
    return Noticed(did=did, slug=notice.slug, kind=notice.kind, title=notice.title, path=wire(path), detail=detail)


def noticed_text(answer: Noticed) -> str:
    """What became of the notice, in one line."""
    what = f"{answer.kind} {clean(answer.slug)}".strip()
    title = f" ({clean(answer.title)})" if answer.title else ""
    detail = f"; {clean(answer.detail, 400)}" if answer.detail else ""
    return f"{answer.did}: {what}{title}{detail}\n{clean(answer.path, 1_000)}\n"


def taken_text(answer: Taken) -> str:
    """What was taken over and what was not, and how to retire the list."""
    lines = [
        f"from {clean(answer.source, 400)}: {len(answer.added)} added, {len(answer.left)} there before, {answer.done} ticked off"
    ]
    lines += [f"added: {clean(slug)}" for slug in answer.added]
    lines += [f"not read: {clean(line, 400)}" for line in answer.unread]
    lines.append(
        f"To retire the list, read what was not taken over, then remove {clean(answer.source, 400)} and point to "
        "majordomus reminders where it was named."
    )
    return "\n".join(lines) + "\n"
