"""Write notices: a new one atomically and never over another, an existing one only in the lines that must change."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from msgspec import Struct

from brief.core.model.errors import DocumentError, UsageError
from brief.core.notices.locks import is_session_id
from brief.core.notices.notice import Kind, Notice, NoticeStatus, When, parse
from brief.core.notices.notice_text import change_fields, render_notice
from brief.core.notices.recurrence import DAY_FIELD, DONE_FIELD, is_done_until_due, next_after_done
from brief.core.notices.slug import make_slug
from brief.core.text.sanitize import clean, to_wire
from brief.notices.finding import find, read_content
from brief.notices.folder import NoticeFile, is_linked
from brief.notices.folder_lock import NoticeError, as_notice_error, lock_folder
from brief.support import files


class Written(Struct, frozen=True):
    """A notice that was written, and its file."""

    notice: Notice
    path: str


class Done(Struct, frozen=True):
    """A notice that was set to done: it is over, or due again on `fires_on`.

    `was_done` means that it was done before, and nothing was changed.
    """

    notice: Notice
    path: str
    fires_on: When | None
    was_done: bool


# ---------------------------------------------------------------- new notices


def create_notice(folder: str, fields: Mapping[str, Any], body: str, now: datetime) -> Written:
    """Write a notice under a slug made from its title, or from its kind and component.

    A number is added to a slug that is or was in use. Raises DocumentError or UsageError if it would not be a notice, and
    NoticeError if it cannot be written.
    """
    tries = (
        put(folder, name, fields, body, now) for name in number_name(_choose_slug(fields)) if not in_use(folder, name)
    )
    return next(made for made in tries if made)


def preview_notice(fields: Mapping[str, Any], now: datetime) -> Notice:
    """The notice that `create_notice` would write with these fields. Raises DocumentError if it would not be one."""
    made = {**fields, "created": fields.get("created") or now.astimezone(UTC).replace(microsecond=0)}
    return parse(to_wire(render_notice(made, "")).encode(), "preview")


def put(folder: str, name: str, fields: Mapping[str, Any], body: str, now: datetime) -> Written | None:
    """Write a notice under exactly this slug, `created` now unless a field says otherwise. Raises like `create_notice`.

    Returns None if an active notice has the slug already.
    """
    text = render_notice(
        {**fields, "created": fields.get("created") or now.astimezone(UTC).replace(microsecond=0)}, body
    )
    raw = to_wire(text).encode()
    notice = parse(raw, name)
    if notice.kind is Kind.LOCK:
        check_owner(notice.session_id)
    path = f"{folder}/active/{name}.md"
    if reason := is_linked(folder, "active"):
        raise NoticeError(f"{to_wire(folder)}: {reason}; nothing was written")
    with as_notice_error(f"{folder}/active"):
        os.makedirs(f"{folder}/active", mode=0o700, exist_ok=True)
    try:
        with as_notice_error(path, FileExistsError):
            files.create(path, raw)
    except FileExistsError:
        return None
    return Written(notice, path)


def in_use(folder: str, name: str) -> bool:
    """Whether a notice has or had the slug. The archive counts, since sessions remember courtesies by their slugs."""
    return any(os.path.lexists(f"{folder}/{inner}/{name}.md") for inner in ("active", "archive"))


def number_name(name: str) -> Iterator[str]:
    """The name, and then the name with `-2`, `-3` and so on."""
    return itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))


def _choose_slug(fields: Mapping[str, Any]) -> str:
    kind = str(fields.get("kind") or Kind.ALERT)
    component = str(fields.get("component") or "")
    return make_slug(str(fields.get("title") or "")) or make_slug(f"{kind} {component}") or "notice"


def check_owner(session_id: str | None) -> None:
    """Raise UsageError unless this is the id of a session that can hold a lock."""
    if not is_session_id(session_id or ""):
        given = f"{clean(session_id, 60)} is not one" if session_id else "none is given"
        raise UsageError(
            f"session_id: a lock needs the UUID of the session that holds it, and {given}; "
            "give it with --session, or set CLAUDE_CODE_SESSION_ID"
        )


# ---------------------------------------------------------------- done


def set_done(folders: Sequence[str], name: str, now: datetime, zone: ZoneInfo) -> Done:
    """Set the notice with this slug or path to done. A recurring one stays active and moves to its next occurrence.

    A recurring notice that was done is left alone until it is due again, so that no occurrence is skipped. Only the lines
    that change are rewritten. Raises NotFoundError, ConflictError if two notices have the slug, DocumentError if the file
    is not a notice, and NoticeError if it cannot be written.
    """
    found = find(folders, name)
    with lock_folder(found.folder):
        raw, notice = read_content(found.file)
        if notice.status is NoticeStatus.DONE:
            return Done(notice, found.file.path, None, was_done=True)
        if is_done_until_due(notice, now, zone):
            return Done(notice, found.file.path, notice.fires_on, was_done=True)
        changes = _find_changes(notice, now, zone)
        after = rewrite(found.file, raw, changes)
    recurs = after.status is not NoticeStatus.DONE
    return Done(after, found.file.path, after.fires_on if recurs else None, was_done=False)


def rewrite(file: NoticeFile, raw: bytes, changes: Mapping[str, Any]) -> Notice:
    """Set fields of a notice whose file holds `raw`. The caller holds the folder's lock. Raises DocumentError, NoticeError."""
    try:
        after = change_fields(raw, changes)
        notice = parse(after, file.slug)
    except DocumentError as error:
        raise DocumentError(f"{to_wire(file.path)}: {error}", error.line, error.column) from error
    if file.target != file.path:
        raise NoticeError(
            f"{to_wire(file.path)} is a link, and links are not followed for writing; nothing was changed"
        )
    with as_notice_error(file.path):
        files.replace(file.target, after, stat.S_IMODE(os.stat(file.target).st_mode))
    return notice


def _find_changes(notice: Notice, now: datetime, zone: ZoneInfo) -> dict[str, Any]:
    following = next_after_done(notice, now, zone)
    if following is None:
        return {"status": str(NoticeStatus.DONE)}
    day = {} if following.recurs_day is None else {DAY_FIELD: following.recurs_day}
    return {"fires_on": following.fires_on, **day, DONE_FIELD: now.astimezone(UTC).replace(microsecond=0)}
