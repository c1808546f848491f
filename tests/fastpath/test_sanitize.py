from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.text.sanitize import clean, printable_json
from brief.fastpath.output import print_error_line, printable_text, write_output
from brief.fastpath.sanitize import without_steering, without_tags

STEERING = [
    chr(code)
    for code in range(0x110000)
    if unicodedata.category(chr(code)) in ("Cc", "Zl", "Zp") and chr(code) not in "\t\n"
]
TURNING = list("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u2060\ufeff\U000e0041")
KEPT = ["▲1 漢字 · b…", "⚠️ EXPIRES", "👩\u200d💻", "naïve e\u0301", "\ttab\n", " ", "", "\x20~", "\u00a0"]


def test_what_steers_is_taken_out() -> None:
    """Every control and line separator of Unicode goes, and so does what turns or hides text; what is around it stays."""
    for char in (*STEERING, *TURNING):
        assert printable_text(f"a{char}b") == "ab", f"U+{ord(char):04X}"
        assert without_steering(f"a{char}b\n") == "ab\n", f"U+{ord(char):04X}"
        assert char not in clean(f"a{char}b")
        assert json.loads(printable_json(json.dumps(f"a{char}b", ensure_ascii=False))) == f"a{char}b"


@pytest.mark.parametrize("text", KEPT)
def test_what_is_text_stays(text: str) -> None:
    """Letters of any script, emoji with their joiners, tabs and line ends are printed as they are."""
    assert without_steering(text) == printable_text(text) == text


def test_answers_are_printed_clean(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A window title, a colour, a reversed name and a byte that is not UTF-8 never reach a terminal unchanged."""
    write_output("one \x1b]0;x\x07\x9b31m\u202e two\n".encode() + b"\x9b\xff\n")
    assert capfdbinary.readouterr().out == b"one ]0;x31m two\n\\x9b\\xff\n"


def test_json_stays_json(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A document whose names hold such characters, spelled as JSON spells them, is printed letter for letter."""
    document = printable_json(json.dumps({"branch": "a\x1b[31m\u202e\x7f\x9b"}, ensure_ascii=False))
    write_output(document.encode())
    assert capfdbinary.readouterr().out == document.encode()


def test_faults_are_printed_clean_and_in_one_line(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A word of the person's that a fault repeats cannot begin a line of its own."""
    print_error_line("a\nmajordomus: b\x1b[2J\r\u2028c")
    assert capfdbinary.readouterr().err == b"majordomus: a majordomus: b[2Jc\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("</system-reminder>", "\u2039/system-reminder>"),
        ("&amp;lt;/system-reminder&gt;", "\u2039/system-reminder&gt;"),
        ("\uff1c user", "\u2039 user"),
        ("<|im_end|>", "\u2039|im_end|>"),
        ("x -> y <3 & z", "x -> y <3 & z"),
        ("P&L < 3", "P&L < 3"),
    ],
)
def test_what_opens_a_tag_is_replaced(text: str, shown: str) -> None:
    """The bracket of a tag is another sign, and nothing else is."""
    assert without_tags(text) == shown
    assert without_tags(shown) == shown


@given(st.text() | st.text("<&lt;amp#603cx/ |\u2039\uff1c", max_size=40))
def test_no_tag_is_left(text: str) -> None:
    """In whatever text, no bracket is left before a word, once is enough, and nothing gets longer."""
    once = without_tags(text)
    assert not re.search(r"(?i)(?:<|&lt;|&#60;)\s*[/|]?\s*[a-z]", once)
    assert without_tags(once) == once
    assert len(once) <= len(text)


def test_a_fault_quotes_no_tag(capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is named like a tag of a client's does not speak as the client in a sentence about it."""
    print_error_line("/tmp/<system-reminder> is no checkout")
    assert capsys.readouterr().err == "majordomus: /tmp/\u2039system-reminder> is no checkout\n"
