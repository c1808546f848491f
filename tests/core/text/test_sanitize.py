from __future__ import annotations

import json
import os
import re
import unicodedata
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.text.sanitize import ago, clean, clean_block, printable_json, span, to_wire

HOSTILE = (
    "\x1b]0;title\x07",
    "\x1b[31m",
    "\x9b2J",
    "\x1bPq...\x1b\\",
    "\x1b",
    "\x9d",
    "\x07",
    "\x00",
    "\x7f",
    "\x85",
    "\u202e",
    "\u2066",
    "\u061c",
    "\u200b",
    "\u200d",
    "\ufe0f",
    "\ufeff",
    "\u2028",
    "\u3164",
    "\U000e0041",
    "\udcff",
    "\ud83d",
    "\ue000",
    "\uffff",
    "\u0301",
    "\r\n",
    "\t",
)
PLAIN = ("a", "Ž", "日本", "👩‍💻", "🇨🇿", "1️⃣", "❤️", "👋🏽", "…", " ", "#", "é")
text = st.one_of(st.text(), st.lists(st.sampled_from(HOSTILE + PLAIN)).map("".join), st.text(st.characters()))
steering = re.compile("[\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("plain", "plain"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]8;;https://x.example\x1b\\b\x1b]8;;\x1b\\", "ab"),
        ("a\x9d0;title\x9cb", "ab"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b2Jcleared", "cleared"),
        ("a\x1bPq#0;2;0\nsixel\x1b\\b", "ab"),
        ("\x1b(0\x1bcreset", "reset"),
        ("a\x1b]0;never closed", "a0;never closed"),
        ("\x9dstray", "stray"),
        ("cut\x1b", "cut"),
        ("a\x07\x00\x7f\x80b", "ab"),
        ("\u202eevil\u2066\u2069\u200e\u061c", "evil"),
        ("in\u200bvis\u2060ible\ufeff\u180e\u200c", "invisible"),
        ("a\u200db\ufe0fc", "abc"),
        ("tag\U000e0041\U000e007f", "tag"),
        ("lines\r\nand\ttabs\u2028 and\x85\u3000more ", "lines and tabs and more"),
        ("byte \udcff", "byte \\udcff"),
        ("\ue000\ufdd0\uffff\U0001fffe\U0010ffff", "\ufffd\ufffd\ufffd\ufffd\ufffd"),
        ("z" + "\u0301" * 50, "z" + "\u0301" * 4),
        ("\u0301a \u0301b", "a b"),
        ("👩‍💻 👋🏽 ❤️ 1️⃣ 🇨🇿 日本", "👩‍💻 👋🏽 ❤️ 1️⃣ 🇨🇿 日本"),
        ("👩\u200d\u200d💻", "👩💻"),
        ("❤\ufe0f\ufe0f\ufe0f", "❤\ufe0f"),
        ("", ""),
    ],
)
def test_clean_takes_away_what_steers_and_keeps_what_reads(given_text: str, shown: str) -> None:
    """Escape sequences go whole, invisible characters go, and emoji, scripts and words stay as they are."""
    assert clean(given_text) == shown


@given(text, st.integers(-1, 40))
def test_clean_is_one_line_bounded_and_idempotent(dirty: str, limit: int) -> None:
    """Whatever comes in, one bounded line without a control comes out, and cleaning it again changes nothing."""
    shown = clean(dirty, limit)
    assert len(shown) <= max(0, limit)
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cs", "Co", "Zl", "Zp"}
    assert not steering.search(shown)
    assert shown == " ".join(shown.split())
    assert clean(shown, limit) == shown
    shown.encode()


@pytest.mark.parametrize(
    ("limit", "shown"), [(0, ""), (1, "…"), (4, "abc…"), (5, "abc…"), (6, "abc d…"), (9, "abc defg")]
)
def test_clean_marks_where_it_cut(limit: int, shown: str) -> None:
    """A text above the limit ends in an ellipsis that is part of the limit."""
    assert clean("abc defg", limit) == shown


def test_clean_cuts_before_an_emoji_that_does_not_fit_whole() -> None:
    """A cut never leaves a part of an emoji."""
    assert clean("ab👨‍👩‍👧‍👦cd", 8) == "ab…"


@pytest.mark.parametrize("prefix", ["\u200b", "\x1b]", "\x1b[", "\x9d", " ", "\u0301", "a\u0301"])
def test_clean_looks_at_a_bounded_start_of_a_long_text(prefix: str) -> None:
    """Five million characters that show nothing cost no more than the start of them, and the cut is told."""
    assert clean(prefix * 5_000_000).endswith("…")


def test_clean_finds_a_title_behind_removable_characters() -> None:
    """A prefix of thousands of invisible characters does not eat the text behind it."""
    assert clean("\u200b" * 5_000 + "title") == "title"


@pytest.mark.parametrize(
    ("lines", "width", "rows"),
    [
        (6, 80, ("one", "two", "", "three")),
        (2, 80, ("one", "two")),
        (3, 80, ("one", "two")),
        (4, 3, ("one", "two", "", "th…")),
        (0, 80, ()),
        (-1, 80, ()),
        (6, 0, ()),
    ],
)
def test_clean_block_gives_the_first_lines(lines: int, width: int, rows: tuple[str, ...]) -> None:
    """Blank lines at the ends are dropped, those between stay, and every line is cleaned to the width."""
    assert clean_block("\n \n\x1b[1mone\x1b[0m\r\ntwo\n\n\tthree\n\n", lines, width) == rows


def test_clean_block_of_nothing_is_nothing() -> None:
    """A text without a visible character has no rows."""
    assert clean_block("\n\u200b\n \n", 6, 80) == ()


@given(text, st.integers(0, 5), st.integers(1, 30))
def test_clean_block_rows_are_clean_lines(dirty: str, lines: int, width: int) -> None:
    """Every row of a block is what clean makes of it, and no more rows come than were asked for."""
    rows = clean_block(dirty, lines, width)
    assert len(rows) <= lines
    assert all(clean(row, width) == row for row in rows)
    assert not rows or (rows[0] and rows[-1])


pairs = re.compile("[\ud800-\udbff][\udc00-\udfff]")


@given(
    st.dictionaries(text, text).filter(lambda value: not pairs.search("".join(json.dumps(value, ensure_ascii=False))))
)
def test_printable_json_keeps_the_value(value: dict[str, str]) -> None:
    """The document parses to the same value, encodes as UTF-8 and holds nothing that could steer a terminal."""
    document = printable_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(document) == value
    document.encode()
    assert not steering.search(document)
    assert not re.search("[\x7f-\x9f]", document)


def test_printable_json_leaves_letters_and_emoji() -> None:
    """Only what steers is escaped; tags become a pair of surrogates, as JSON spells them."""
    assert printable_json('{"ž": "👩‍💻\u202e\U000e0041"}') == '{"ž": "👩‍💻\\u202e\\udb40\\udc41"}'


@given(st.binary())
def test_wire_makes_any_file_name_encodable(name: bytes) -> None:
    """A file name of any bytes can be encoded, and one that is UTF-8 stays what it is."""
    shown = to_wire(os.fsdecode(name))
    shown.encode()
    if "\ufffd" not in name.decode(errors="replace"):
        assert shown == name.decode()


def test_wire_shows_stray_bytes_and_lone_surrogates() -> None:
    """A stray byte reads as its value, a surrogate that never was a byte as its code."""
    assert to_wire(os.fsdecode(b"caf\xe9")) == "caf\\xe9"
    assert to_wire("a\ud800\udd00") == "a\\ud800\\udd00"


@pytest.mark.parametrize(
    ("delta", "shown"),
    [
        (timedelta(days=-3), "0m"),
        (timedelta(0), "0m"),
        (timedelta(seconds=59), "0m"),
        (timedelta(minutes=12, seconds=59), "12m"),
        (timedelta(minutes=59, seconds=59), "59m"),
        (timedelta(hours=1), "1h"),
        (timedelta(hours=47, minutes=59), "47h"),
        (timedelta(days=2), "2d"),
        (timedelta(days=1_000), "1000d"),
    ],
)
def test_span_is_one_short_word_rounded_down(delta: timedelta, shown: str) -> None:
    """Minutes below an hour, hours below two days, then days; never more than has passed."""
    assert span(delta) == shown


@pytest.mark.parametrize(
    ("delta", "shown"),
    [
        (timedelta(days=-3), "an unknown time ago"),
        (timedelta(seconds=-61), "an unknown time ago"),
        (timedelta(seconds=-60), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1m ago"),
        (timedelta(hours=3), "3h ago"),
    ],
)
def test_ago_stands_in_a_sentence(delta: timedelta, shown: str) -> None:
    """A span that has passed; no number for what is younger than a minute, and no age for what lies ahead of the clock."""
    assert ago(delta) == shown
