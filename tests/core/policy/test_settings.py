"""The settings: bounds, defaults, and what a person is told to write."""

from __future__ import annotations

from datetime import date

import pytest
from msgspec import ValidationError

from brief.core.model.wire import from_plain
from brief.core.policy.settings import Settings, default, expects, keys, sections


def test_defaults_are_the_documented_ones() -> None:
    """An absent policy waits 20 minutes, wakes nobody and reaches nothing outside."""
    settings = Settings()
    assert settings.session.brief_interval_minutes == 20
    assert settings.session.brief_on_interval is False
    assert (settings.server.port, settings.integration.api_url, settings.mesh.url) == (None, None, None)
    assert settings.alerts.folders == ()


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("version", [1], [True, 1.0, "1", 2, None]),
        ("timezone", ["Europe/Prague", None], [1, True, "x" * 101]),
        ("session.brief_interval_minutes", [1, 20, 1440], [0, -1, 1.5, "20", 1441, 1e9, True, float("nan"), None, []]),
        ("session.brief_on_interval", [True, False], ["true", "yes", 1, 0, 1.0, None, []]),
        ("session.brief_when", ["always", "changed"], ["never", True, None, ["always"]]),
        ("session.wake_limit", [0, 12], [-1, 10_001, "12", None]),
        ("session.freshness.fresh_minutes", [1, 240], [0, 43_201, "30"]),
        ("server.idle_minutes", [1, 10_080], [0, 1.0]),
        ("server.port", [None, 1024, 65_535], [0, 80, 65_536, "8080", True]),
        (
            "alerts.folders",
            [[], ["a", "/b/c", "../d"]],
            ["a", [1], [""], ["~/a"], ["a\x00"], ["a"] * 17, {"a": 1}, None],
        ),
        ("alerts.component", [None, "koda"], ["", "a\x1b", 1]),
        ("alerts.block_characters", [500, 10_000], [499, 10_001]),
        ("alerts.lock_owner_since", [None, "2026-10-01"], ["2026-02-30", "2026-W01-1", "20261001", 5, "yesterday"]),
        ("integration.provider", ["auto", "git", "github", "none"], ["gitlab", None]),
        ("integration.base", [None, "main", "release/1.x"], ["", "-x", "a b", "a:b", "a\x1b"]),
        ("integration.api_url", [None, "https://github.example.org/api/v3"], ["ftp://x", "https://a b", "https://"]),
        ("mesh.url", [None, "nats://127.0.0.1:4222"], ["127.0.0.1", "http://x", ""]),
    ],
)
def test_values_are_taken_as_they_are_or_refused(key: str, good: list[object], bad: list[object]) -> None:
    """No value is coerced or rounded: it is within the bounds and of the type, or it is refused."""
    for value in good:
        from_plain(Settings, _nested(key, value))
    for value in bad:
        with pytest.raises(ValidationError):
            from_plain(Settings, _nested(key, value))


def test_a_day_becomes_a_date() -> None:
    """A day spelled in the file is a date in the settings."""
    settings = from_plain(Settings, _nested("alerts.lock_owner_since", "2026-10-01"))
    assert settings.alerts.lock_owner_since == date(2026, 10, 1)


def test_unknown_keys_are_refused_at_every_depth() -> None:
    """The model is closed: no mapping of it takes a key it does not know."""
    for section in ["", *sections()]:
        with pytest.raises(ValidationError):
            from_plain(Settings, _nested(f"{section}.novel".lstrip("."), 1))


def test_every_key_is_described_and_tells_what_to_write() -> None:
    """Each key has one sentence of description, and a phrase with its bounds for who must mend it."""
    for key, field in keys().items():
        assert field.description is not None
        assert field.description.endswith(".")
        assert expects(key)
        from_plain(Settings, _nested(key, default(key)))
    assert expects("session.brief_interval_minutes") == "a whole number of minutes from 1 to 1440"
    assert expects("server.port") == "a whole number from 1024 to 65535, or null"
    assert expects("session.brief_on_interval") == "true or false"
    assert expects("integration.provider") == "auto, git, github or none"


def _nested(key: str, value: object) -> dict[str, object]:
    document: object = value
    for name in reversed(key.split(".")):
        document = {name: document}
    assert isinstance(document, dict)
    return document
