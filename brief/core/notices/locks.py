"""The owner that a lock names, and whether a file may be a lock. Whether the owner still lives is decided elsewhere."""

from __future__ import annotations

import re
from datetime import date
from enum import StrEnum
from zoneinfo import ZoneInfo

from brief.core.notices.component import component_key
from brief.core.notices.days import begin_of
from brief.core.notices.notice import Notice
from brief.core.notices.slug import digest, make_slug

LOCK_PREFIX = "lock-"
"""The beginning of the name of every lock that the command places."""

_FRONT_MATTER = re.compile(rb"---\r?\n(.*?\n)??---\r?(?:\n|\Z)", re.DOTALL)
_COMPONENT = re.compile(r"^[ \t]*component[ \t]*:[ \t]*(.*?)[ \t]*(?:#.*)?$", re.MULTILINE)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


class LockClass(StrEnum):
    """How well a lock identifies its owner."""

    OK = "ok"
    AD_HOC = "ad-hoc-session"
    NO_SESSION_ID = "no-session-id"
    ANONYMOUS = "anonymous"


def is_session_id(text: str) -> bool:
    """Whether the text is a UUID, as session ids are."""
    return _UUID.fullmatch(text) is not None


def lock_class(lock: Notice) -> LockClass:
    """The class of a lock: OK with a UUID as `session_id`, else by what it has: another `session_id`, a `session`, none."""
    session_id = (lock.session_id or "").strip()
    if session_id:
        return LockClass.OK if is_session_id(session_id) else LockClass.AD_HOC
    session = lock.fields.get("session")
    if session is None or not str(session).strip():
        return LockClass.ANONYMOUS
    return LockClass.NO_SESSION_ID


def lock_slug(component: str) -> str:
    """The slug of the lock on a component: readable, and unique for every component key."""
    key = component_key(component)
    return f"{LOCK_PREFIX}{make_slug(key, 40) or 'component'}-{digest(key)}"


def may_be_lock(raw: bytes) -> bool:
    """Whether a file may be a lock, without parsing it.

    It is proven not to be one only if its front matter is complete and contains neither the word nor an escape that may
    spell it.
    """
    head = _front_matter(raw)
    return head is None or b"lock" in head.lower() or b"\\" in head


def may_be_lock_on(component: str, name: str, raw: bytes | None) -> bool:
    """Whether a file that cannot be parsed as a notice may be the lock on a component.

    It may if `name`, its slug, is that of such a lock, or if a line of its text names the component. `raw` is None if not
    even the text can be read.
    """
    key = component_key(component)
    readable = f"{LOCK_PREFIX}{make_slug(key, 40) or 'component'}"
    if name == readable or name == lock_slug(component):
        return True
    if raw is None:
        return name.startswith(f"{readable}-")
    if not may_be_lock(raw):
        return False
    named = _COMPONENT.findall((_front_matter(raw) or raw).decode(errors="replace"))
    return any(component_key(each.strip().strip("\"'")) == key for each in named)


def _front_matter(raw: bytes) -> bytes | None:
    """The text between the first line `---` and the next one. None if either line is missing."""
    found = _FRONT_MATTER.match(raw)
    return (found[1] or b"") if found else None


def must_name_owner(lock: Notice, since: date | None, zone: ZoneInfo) -> bool:
    """Whether the audit fails on a lock that is not `ok`: one created since the day `since`, or at an unknown time.

    Without `since` no lock fails the audit.
    """
    if since is None:
        return False
    if lock.created is None:
        return True
    return begin_of(lock.created, zone) >= begin_of(since, zone)
