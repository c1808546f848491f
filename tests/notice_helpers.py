"""Notices for tests, made from the fields that matter by the real parser, and the zones in which they are judged."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from brief.core.notices.notice import Notice, parse
from brief.core.notices.visibility import Expired, Hidden, Shown, decide_visibility, order_shown
from brief.core.sessions.life import Life

ZONES = ("Pacific/Auckland", "Europe/Prague", "America/New_York", "UTC")
SESSION = "22222222-2222-4222-8222-222222222222"


def notice(slug: str = "slug", body: str = "", /, **fields: object) -> Notice:
    """Return the notice parsed from a file with these fields and this body."""
    head = "".join(f"{key}: {_quoted(value)}\n" for key, value in fields.items())
    return parse(f"---\n{head or '{}'}\n---\n{body}", slug)


def at(local: str, zone: str) -> datetime:
    """The moment in UTC at which the clocks of the zone show `local`, the first one if there are two."""
    return datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def judged(made: Notice, local: str, zone: str, owner: Life = Life.UNKNOWN) -> Shown | Hidden | Expired:
    """The verdict on the notice at the moment when the clocks of the zone show `local`."""
    return decide_visibility(made, at(local, zone), ZoneInfo(zone), owner)


def countdown(made: Notice, local: str, zone: str) -> str | None:
    """The countdown of a notice, which must be shown at that moment."""
    verdict = judged(made, local, zone)
    assert isinstance(verdict, Shown), verdict
    return verdict.countdown


def shown(*made: Notice, local: str = "2026-10-11 09:00", zone: str = "Europe/Prague") -> list[Shown]:
    """The notices that are shown at that moment, in order."""
    verdicts = [judged(each, local, zone) for each in made]
    return sorted((verdict for verdict in verdicts if isinstance(verdict, Shown)), key=order_shown)


def _quoted(value: object) -> str:
    """A value that YAML can hold. JSON's surrogate pairs are not valid YAML."""
    if not isinstance(value, str):
        return json.dumps(value)
    plain = (
        char if char.isascii() and char.isprintable() and char not in '\\"' else f"\\U{ord(char):08x}" for char in value
    )
    return f'"{"".join(plain)}"'
