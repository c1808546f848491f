"""A list of reminders in Markdown taken over as notices, as often as one likes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from msgspec import Struct

from brief.core.model.errors import DocumentError, NotFoundError
from brief.core.notices.notice import Audience, Kind
from brief.core.text.sanitize import clean, to_wire
from brief.core.yaml import reader
from brief.notices.folder_lock import NoticeError, lock_folder
from brief.notices.writing import Written, in_use, put
from brief.reminder_import.reminder_list import Reminder, Unread, read_reminders
from brief.support.files import UnreadableFileError, read_bounded

_MOST = 1_048_576


class Migrated(Struct, frozen=True):
    """The notices written, the slugs of those that existed before, the number of items ticked off, and the lines not read."""

    added: tuple[Written, ...]
    left: tuple[str, ...]
    done: int
    unread: tuple[Unread, ...]


def migrate(folder: str, path: str, source: str, now: datetime, today: date) -> Migrated:
    """Write every reminder of the list at `path` into the folder, unless it is or was there already.

    The notices name the list as `source`. A recurring reminder without a date is due from `today` on. Raises NotFoundError,
    DocumentError and NoticeError; the notices written by then stay, and another try skips them.
    """
    reminders = read_reminders(_read_text(path))
    with lock_folder(folder):
        tries = {found.slug: _import_one(folder, found, source, now, today) for found in reminders.found}
    return Migrated(
        added=tuple(made for made in tries.values() if made),
        left=tuple(slug for slug, made in tries.items() if made is None),
        done=reminders.done,
        unread=reminders.unread,
    )


def _read_text(path: str) -> str:
    name = to_wire(path)
    try:
        return reader.decode(read_bounded(path, _MOST), limit=_MOST)
    except FileNotFoundError:
        raise NotFoundError(f"{name} is not there; name the list of reminders") from None
    except UnreadableFileError as error:
        raise NoticeError(f"{name} {error}") from error
    except DocumentError as error:
        raise DocumentError(f"{name}: {error}", error.line, error.column) from error


def _import_one(folder: str, reminder: Reminder, source: str, now: datetime, today: date) -> Written | None:
    if in_use(folder, reminder.slug):
        return None
    return put(folder, reminder.slug, dict(_make_fields(reminder, source, today)), _make_body(reminder), now)


def _make_fields(reminder: Reminder, source: str, today: date) -> Iterator[tuple[str, Any]]:
    yield "kind", str(Kind.REMINDER)
    yield "audience", str(Audience.OWNER)
    yield "title", clean(reminder.title)
    yield "fires_on", reminder.fires_on or today
    yield "recurring", str(reminder.recurring) if reminder.recurring else None
    yield "group", reminder.group
    yield "source", to_wire(source)


def _make_body(reminder: Reminder) -> str:
    """The lines below the item. They begin with the item's whole text if that is too long for a title."""
    whole = clean(reminder.title) != clean(reminder.title, len(reminder.title))
    return (f"{reminder.title}\n\n" if whole else "") + reminder.body
