from __future__ import annotations

from datetime import date
from zoneinfo import ZoneInfo

import pytest

from brief.core.notices.component import component_key, component_name
from brief.core.notices.locks import LockClass, lock_class, lock_slug, must_name_owner
from notice_helpers import SESSION, notice


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"session_id": SESSION}, "ok"),
        ({"session_id": SESSION.upper()}, "ok"),
        ({"session_id": "abcdefab-0000-4000-8000-00000000000F", "session": "x"}, "ok"),
        ({"session_id": "fix-login"}, "ad-hoc-session"),
        ({"session_id": 724929}, "ad-hoc-session"),
        ({"session_id": f"{SESSION}0", "session": "x"}, "ad-hoc-session"),
        ({"session_id": SESSION.replace("-", "")}, "ad-hoc-session"),
        ({"session": 724929}, "no-session-id"),
        ({"session": "koda worker", "session_id": None}, "no-session-id"),
        ({"session": ["a"], "session_id": " "}, "no-session-id"),
        ({}, "anonymous"),
        ({"session": " ", "session_id": ""}, "anonymous"),
        ({"session": None}, "anonymous"),
    ],
)
def test_a_lock_is_classed_by_how_it_names_its_owner(fields: dict[str, object], expected: str) -> None:
    """A UUID is ok; another session id, a free session and none at all are three classes."""
    assert lock_class(notice(kind="lock", **fields)) is LockClass(expected)


@pytest.mark.parametrize(
    ("created", "since", "held"),
    [
        ("2026-09-30", date(2026, 10, 1), False),
        ("2026-10-01", date(2026, 10, 1), True),
        ("2026-09-30 22:30Z", date(2026, 10, 1), True),
        ("2026-09-30 21:30Z", date(2026, 10, 1), False),
        (None, date(2026, 10, 1), True),
        ("2020-01-01", None, False),
        (None, None, False),
    ],
)
def test_older_locks_are_not_held_to_the_rule(created: str | None, since: date | None, held: bool) -> None:
    """A lock made before the day of the policy only warns; one of unknown age does not pass, and without a day all do."""
    assert must_name_owner(notice(kind="lock", created=created), since, ZoneInfo("Europe/Prague")) is held


def test_a_component_is_known_by_its_words() -> None:
    """Neither spaces around and between count, nor how an accent is put together, nor upper case."""
    assert component_key("  koda \t api\n") == "koda api"
    assert component_key("ko\u0301da") == component_key("k\u00f3da")
    assert component_key("Koda") == component_key("KODA") == component_key("koda")
    assert component_key("KO\u0301DA") == component_key("k\u00f3da")
    assert component_key("Stra\u00dfe") == component_key("STRASSE")
    assert component_name(" Ko\u0301da  API ") == "K\u00f3da API"
    assert component_key(None) == component_key(" ") == ""
    for other in ("koda/api/", "koda//api", "koda\\api", "./Koda/./api", "\uff2b\uff2f\uff24\uff21/api"):
        assert component_key(other) == component_key("koda/api")
    assert component_key("/") == component_key(" / ") != component_key(None)
    assert component_key("koda/../api") != component_key("api")


def test_every_component_has_a_file_of_its_own() -> None:
    """What reads alike in ASCII is told apart, and no name leads out of the folder."""
    names = ["koda", "kóda", "../koda", "日本", "中国", "x" * 300]
    slugs = {lock_slug(name) for name in names}
    assert len(slugs) == len(names)
    assert all(slug.startswith("lock-") and "/" not in slug and len(slug) <= 60 for slug in slugs)
    assert lock_slug(" Koda ") == lock_slug("koda")
