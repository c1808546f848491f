"""Notices written: a new one whole and never over another, an old one changed in the lines that must change."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from brief.core.model.errors import DocumentError, UsageError
from brief.core.notices.locks import is_session_id
from brief.core.notices.notice import Kind, Notice, NoticeStatus, When, parse
from brief.core.notices.notice_text import changed, written
from brief.core.notices.recurrence import DAY_FIELD, DONE_FIELD, is_done_until_due, moved
from brief.core.notices.slug import slug
from brief.core.text.sanitize import clean, wire
from brief.notices.finding import content, find
from brief.notices.folder import NoticeFile, is_linked
from brief.notices.folder_lock import NoticeError, told, turn
from brief.support import files


@dataclass(frozen=True, slots=True)
class Written:
    """A notice that was written, and its file."""

    notice: Notice
    path: str


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a notice that was set to done: over, or due again on `fires_on`.

    `was_done`: it was so before, and nothing was changed.
    """

    notice: Notice
    path: str
    fires_on: When | None
    was_done: bool


# ---------------------------------------------------------------- new notices


def create(folder: str, fields: Mapping[str, Any], body: str, now: datetime) -> Written:
    """Write a notice with these fields under a slug made from its title, or its kind and component.

    A slug that is or was in use gets a number. Raises DocumentError or UsageError for what is no notice, NoticeError.
    """
    tries = (put(folder, name, fields, body, now) for name in numbered(_slug(fields)) if not in_use(folder, name))
    return next(made for made in tries if made)


def preview(fields: Mapping[str, Any], now: datetime) -> Notice:
    """The notice that `create` would write with these fields; raises DocumentError for what is no notice."""
    made = {**fields, "created": fields.get("created") or now.astimezone(UTC).replace(microsecond=0)}
    return parse(wire(written(made, "")).encode(), "preview")


def put(folder: str, name: str, fields: Mapping[str, Any], body: str, now: datetime) -> Written | None:
    """Write a notice under exactly this slug, `created` now where it does not say otherwise; raises what `create` does.

    None where an active notice has the slug already.
    """
    text = written({**fields, "created": fields.get("created") or now.astimezone(UTC).replace(microsecond=0)}, body)
    raw = wire(text).encode()
    notice = parse(raw, name)
    if notice.kind is Kind.LOCK:
        check_owner(notice.session_id)
    path = f"{folder}/active/{name}.md"
    if reason := is_linked(folder, "active"):
        raise NoticeError(f"{wire(folder)}: {reason}; nothing was written")
    with told(f"{folder}/active"):
        os.makedirs(f"{folder}/active", mode=0o700, exist_ok=True)
    try:
        with told(path, FileExistsError):
            files.create(path, raw)
    except FileExistsError:
        return None
    return Written(notice, path)


def in_use(folder: str, name: str) -> bool:
    """Whether a notice has or had the slug: the archive counts, since sessions remember courtesies by their slugs."""
    return any(os.path.lexists(f"{folder}/{inner}/{name}.md") for inner in ("active", "archive"))


def numbered(name: str) -> Iterator[str]:
    """The name, and then the name with `-2`, `-3` and so on."""
    return itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))


def _slug(fields: Mapping[str, Any]) -> str:
    kind = str(fields.get("kind") or Kind.ALERT)
    component = str(fields.get("component") or "")
    return slug(str(fields.get("title") or "")) or slug(f"{kind} {component}") or "notice"


def check_owner(session_id: str | None) -> None:
    """Raise UsageError for what is no session that can hold a lock."""
    if not is_session_id(session_id or ""):
        given = f"{clean(session_id, 60)} is not one" if session_id else "none is given"
        raise UsageError(
            f"session_id: a lock needs the UUID of the session that holds it, and {given}; "
            "give it with --session, or set CLAUDE_CODE_SESSION_ID"
        )


# ---------------------------------------------------------------- done


def set_done(folders: Sequence[str], name: str, now: datetime, zone: ZoneInfo) -> Done:
    """Set the notice with this slug or path to done; one that recurs stays active and moves to its next occurrence.

    One that recurs and was done is left alone until it is due again, so that no occurrence is skipped. Only the lines that say so are rewritten. Raises NotFoundError, ConflictError where two notices have the slug,
    DocumentError where the file is no notice, NoticeError where it cannot be written.
    """
    found = find(folders, name)
    with turn(found.folder):
        raw, notice = content(found.file)
        if notice.status is NoticeStatus.DONE:
            return Done(notice, found.file.path, None, was_done=True)
        if is_done_until_due(notice, now, zone):
            return Done(notice, found.file.path, notice.fires_on, was_done=True)
        changes = _changes(notice, now, zone)
        after = rewrite(found.file, raw, changes)
    recurs = after.status is not NoticeStatus.DONE
    return Done(after, found.file.path, after.fires_on if recurs else None, was_done=False)


def rewrite(file: NoticeFile, raw: bytes, changes: Mapping[str, Any]) -> Notice:
    """Set fields of a notice whose file held `raw` a moment ago, in its turn; raises DocumentError, NoticeError."""
    try:
        after = changed(raw, changes)
        notice = parse(after, file.slug)
    except DocumentError as error:
        raise DocumentError(f"{wire(file.path)}: {error}", error.line, error.column) from error
    if file.target != file.path:
        raise NoticeError(f"{wire(file.path)} is a link, and none is followed to write; nothing was changed")
    with told(file.path):
        files.replace(file.target, after, stat.S_IMODE(os.stat(file.target).st_mode))
    return notice


def _changes(notice: Notice, now: datetime, zone: ZoneInfo) -> dict[str, Any]:
    following = moved(notice, now, zone)
    if following is None:
        return {"status": str(NoticeStatus.DONE)}
    day = {} if following.recurs_day is None else {DAY_FIELD: following.recurs_day}
    return {"fires_on": following.fires_on, **day, DONE_FIELD: now.astimezone(UTC).replace(microsecond=0)}
