"""The format of a notice: Markdown with YAML front matter, read strictly. A fault is a sentence with key and value.

Only the format is defined here. `visibility.py` decides whether a notice is shown, due or too old.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from brief.core.model.errors import DocumentError
from brief.core.text.sanitize import clean
from brief.core.yaml import reader

LIMIT = 262_144
"""The most bytes that the file of a notice may have."""

When: TypeAlias = date | datetime
"""A local day (`date`), a local moment (naive `datetime`), or a moment with its own offset (aware `datetime`)."""

_OPENING = re.compile(r"---\r?(?:\n|\Z)")
_CLOSING = re.compile(r"^---\r?(?:\n|\Z)", re.MULTILINE)
_MARKED_LINE = re.compile(r"^ {0,3}(`{3,}|~{3,}|#{1,6}(?=[ \t]))(.*)(?:\n|\Z)", re.MULTILINE)
_CLOSING_HASHES = re.compile(r" #+$")
_WHEN = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[Tt ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?)(?: ?(Z|[+-]\d{2}:?\d{2}))?)?",
    re.ASCII,
)
_PRIORITIES = range(11)


class Kind(StrEnum):
    """What a notice is for."""

    LOCK = "lock"
    COURTESY = "courtesy"
    REMINDER = "reminder"
    ALERT = "alert"
    BUG_DEP = "bug-dep"


class NoticeStatus(StrEnum):
    """Whether a notice is still in force."""

    ACTIVE = "active"
    DONE = "done"


class Severity(StrEnum):
    """How long a notice without dates is shown."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


class Recurring(StrEnum):
    """How often a notice recurs."""

    DAILY = "daily"
    WEEKDAYS = "weekdays"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    YEARLY = "yearly"


class Audience(StrEnum):
    """Whom a notice is for. A notice for `owner` never enters a text for a model."""

    ALL = "all"
    OWNER = "owner"


class Notice(Struct, frozen=True, kw_only=True):
    """One notice as in its file. `title` is sanitized; all other text is as written, and `body` is the whole body.

    `fields` is the whole front matter in order, including unknown keys. `heading` is the place in `body` of the heading
    that became the title, or None if the title came from elsewhere.
    """

    slug: str
    kind: Kind
    status: NoticeStatus
    priority: int
    severity: Severity
    created: When | None
    expires: When | None
    fires_on: When | None
    recurring: Recurring | None
    audience: Audience
    component: str | None
    applies_when: str | None
    ticket: str | None
    blocked_by: str | None
    session_id: str | None
    title: str
    body: str
    heading: tuple[int, int] | None
    fields: Mapping[str, Any]

    @property
    def body_without_title(self) -> str:
        """The body without the heading that became the title."""
        start, end = self.heading or (0, 0)
        return self.body[:start] + self.body[end:]


def parse(text: bytes | str, slug: str) -> Notice:
    """Parse the text of a notice. `slug` is the file name without `.md`. Raises DocumentError."""
    fields, body = front_matter(text)
    title, heading = _find_title(fields, body, slug)
    return Notice(
        slug=slug,
        kind=_read_choice(fields, "kind", Kind, Kind.ALERT),
        status=_read_choice(fields, "status", NoticeStatus, NoticeStatus.ACTIVE),
        priority=_read_priority(fields),
        severity=_read_choice(fields, "severity", Severity, Severity.NORMAL),
        created=_read_when(fields, "created"),
        expires=_read_when(fields, "expires"),
        fires_on=_read_when(fields, "fires_on"),
        recurring=_read_choice(fields, "recurring", Recurring, None),
        audience=_read_audience(fields),
        component=_read_text(fields, "component"),
        applies_when=_read_text(fields, "applies_when"),
        ticket=_read_text(fields, "ticket"),
        blocked_by=_read_text(fields, "blocked_by"),
        session_id=_read_text(fields, "session_id"),
        title=title,
        body=body,
        heading=heading,
        fields=MappingProxyType(fields),
    )


def front_matter(text: bytes | str) -> tuple[dict[str, Any], str]:
    """The fields between the first line `---` and the next one, and the text after them. Raises DocumentError."""
    whole = reader.decode(text, limit=LIMIT)
    opening = _OPENING.match(whole)
    if opening is None:
        raise _make_fault("there is no front matter; begin the file with a line that is exactly ---")
    closing = _CLOSING.search(whole, opening.end())
    if closing is None:
        raise _make_fault("the front matter is never closed; end it with a line that is exactly ---")
    # The opening line is also YAML's own document mark. It is kept so that the loader's line numbers match the file.
    fields = reader.load(whole[: closing.start()])
    if not isinstance(fields, dict):
        raise _make_fault(f"the front matter is {_spell(fields)} and must be keys with values, such as kind: alert")
    return fields, whole[closing.end() :]


# ---------------------------------------------------------------- fields; an empty one counts as absent

_Choice = TypeVar("_Choice", bound=StrEnum)
_Default = TypeVar("_Default")


def _read_choice(fields: Mapping[str, Any], key: str, choices: type[_Choice], default: _Default) -> _Choice | _Default:
    value = fields.get(key)
    if value is None:
        return default
    try:
        return choices(value)
    except ValueError:
        raise _make_refusal(key, value, f"is not one of {', '.join(choices)}; write one of these") from None


def _read_audience(fields: Mapping[str, Any]) -> Audience:
    """OWNER if the file says that, alone or in a list. With any other value the notice is for all."""
    value = fields.get("audience")
    named = value if isinstance(value, list) else [value]
    is_owner = any(isinstance(one, str) and one.strip().lower() == Audience.OWNER for one in named)
    return Audience.OWNER if is_owner else Audience.ALL


def _read_priority(fields: Mapping[str, Any]) -> int:
    value = fields.get("priority")
    if value is None:
        return 5
    if type(value) is not int or value not in _PRIORITIES:
        raise _make_refusal("priority", value, "is not a whole number from 0 to 10; write one, without quotes")
    return value


def _read_text(fields: Mapping[str, Any], key: str) -> str | None:
    """The text of a field. A whole number counts as text, since people write ticket and process numbers unquoted."""
    value = fields.get(key)
    if value is None or isinstance(value, str):
        return value or None
    if type(value) is not int:
        raise _make_refusal(key, value, "is not text; put quotes around it")
    return str(value)


def _read_when(fields: Mapping[str, Any], key: str) -> When | None:
    value = fields.get(key)
    if value is None:
        return None
    try:
        return _parse_moment(value)
    except (ValueError, OverflowError):
        raise _make_refusal(
            key, value, "is not a valid day YYYY-MM-DD or moment YYYY-MM-DD HH:MM; correct the date"
        ) from None


def _parse_moment(value: Any) -> When:
    found = _WHEN.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError
    day, clock, offset = found.groups()
    if clock is None:
        return date.fromisoformat(day)
    moment = datetime.fromisoformat(f"{day}T{clock}{offset or ''}")
    if moment.tzinfo:
        moment.astimezone(UTC)  # a moment outside the range of UTC must overflow here, not where it is used
    return moment


def _find_title(fields: Mapping[str, Any], body: str, slug: str) -> tuple[str, tuple[int, int] | None]:
    """The title, and the place of its heading in the body if it came from there."""
    title = clean(_read_text(fields, "title") or "")
    if title:
        return title, None
    return _find_heading(body) or (clean(slug), None)


def _find_heading(body: str) -> tuple[str, tuple[int, int]] | None:
    """The first heading of the form `# Title` outside code fences, and its place."""
    fence = ""
    for found in _MARKED_LINE.finditer(body):
        marker, rest = found.groups()
        if fence:
            if marker.startswith(fence) and not rest.strip():
                fence = ""
        elif not marker.startswith("#"):
            fence = "" if marker[0] == "`" and "`" in rest else marker
        elif title := _CLOSING_HASHES.sub("", clean(rest)).lstrip("#"):
            return title, found.span()
    return None


def _spell(value: Any) -> str:
    return clean(json.dumps(value, ensure_ascii=False), 60)


def _make_refusal(key: str, value: Any, what: str) -> DocumentError:
    return DocumentError(f"{key}: {_spell(value)} {what}")


def _make_fault(what: str) -> DocumentError:
    return DocumentError(f"line 1, column 1: {what}", 1, 1)
