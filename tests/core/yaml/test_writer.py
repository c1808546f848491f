from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.sessions.life import Life
from brief.core.yaml import reader
from brief.core.yaml.writer import find_layout, spell, spell_key

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)


@given(VALUES)
def test_what_is_spelled_is_read_back(value: Any) -> None:
    """Any value is the same one, of the same type, to the strict loader."""
    assert repr(reader.load(f"key: {spell(value)}\n")) == repr({"key": value})


@given(TEXT.filter(lambda key: len(key) < 200))
def test_a_key_is_read_back(key: str) -> None:
    """Any text can be a key."""
    assert reader.load(f"{spell_key(key)}: 1\n") == {key: 1}


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        ("koda", "koda"),
        ("yes", "yes"),
        ("22:30", "22:30"),
        ("true", '"true"'),
        ("5", '"5"'),
        ("", '""'),
        ("Lock: release train", '"Lock: release train"'),
        ("- a", '"- a"'),
        ("a #b", '"a #b"'),
        (' "x" \\', '" \\"x\\" \\\\"'),
        ("two\nlines", '"two\\U0000000alines"'),
        ("evil\u202e", '"evil\\U0000202e"'),
        ("a\udce9", "a\\xe9"),
        (Life.ALIVE, "alive"),
        (None, "null"),
        (False, "false"),
        (7, "7"),
        (-math.inf, "-.inf"),
        (["a", {"b": 1}], "[a, {b: 1}]"),
    ],
)
def test_quotes_stand_only_where_they_are_needed(value: Any, spelled: str) -> None:
    """What reads as itself is plain; nothing that could steer a terminal stands in the file as it is."""
    assert spell(value) == spelled


@pytest.mark.parametrize(
    ("when", "spelled"),
    [
        (date(2026, 10, 11), "2026-10-11"),
        (datetime.fromisoformat("2026-10-11 22:30"), "2026-10-11 22:30"),
        (datetime.fromisoformat("2026-10-11 22:30:05"), "2026-10-11 22:30:05"),
        (datetime(2026, 10, 11, 22, 30, tzinfo=UTC), "2026-10-11T22:30:00Z"),
        (datetime(2026, 10, 11, 22, 30, tzinfo=timezone(timedelta(hours=2))), "2026-10-11T22:30:00+02:00"),
    ],
)
def test_days_and_moments_are_spelled_as_notices_have_them(when: date, spelled: str) -> None:
    """A day, a local moment and a moment of a zone each have their own spelling."""
    assert spell(when) == spelled


def test_what_yaml_has_no_word_for_is_refused() -> None:
    """An object is a fault of the program and not of a person."""
    with pytest.raises(TypeError, match="cannot represent the type object"):
        spell(object())


def test_the_layout_counts_characters() -> None:
    """Spans are characters of the text, whatever its letters and line ends, and cover a whole value."""
    document = "---\r\ntitle: čau 😀 # x\r\nlist: [1,\r\n 2]\r\n? deep\r\n: {a: {b: c}}\r\nempty:\r\nlast: 'x'\r\n"
    found = find_layout(document)
    spans = {key: document[start:end] for key, (start, end) in found.values.items()}
    assert spans == {"title": "čau 😀", "list": "[1,\r\n 2]", "deep": "{a: {b: c}}", "empty": "", "last": "'x'"}
    assert (found.start, found.flow) == (5, False)
    assert find_layout("--- {a: 1}").flow
