from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st

from brief.core.model.errors import DocumentError
from brief.core.yaml import reader


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def either_loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loader on libyaml, and the one in pure Python."""
    monkeypatch.setattr(pyyaml, "CSafeLoader", getattr(pyyaml, request.param))


def refused(text: str | bytes) -> DocumentError:
    """The error that `text` is refused with."""
    with pytest.raises(DocumentError) as caught:
        reader.load(text)
    return caught.value


@pytest.mark.usefixtures("either_loader")
@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        *((word, True) for word in ("true", "True", "TRUE")),
        *((word, False) for word in ("false", "False", "FALSE")),
        *((word, None) for word in ("null", "Null", "NULL", "~", "")),
        *((word, word) for word in ("yes", "No", "on", "OFF", "y", "n", "tRUE", "nULL", "<<", "=")),
        *((word, word) for word in ("22:00", "22:30:15", "1_000", "0b11", "+0x1", "0o8", "0xg", "1e", ".", "-a", "+")),
        *((word, word) for word in ("2026-10-11", "2026-13-45", "2026-10-11 24:00:00", "2026-10-11T09:00:00-25:00")),
        ("0", 0),
        ("-7", -7),
        ("+7", 7),
        ("010", 10),
        ("08", 8),
        ("0o10", 8),
        ("0xFf", 255),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("-1e3", -1000.0),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("+.Inf", math.inf),
        (".Infinity", ".Infinity"),
        ("'true'", "true"),
        ('"10"', "10"),
        ("! 12", "12"),
        ("!!str 12", "12"),
        ("!!int '12'", 12),
        ("!!float 3", 3.0),
        ("!!float .5", 0.5),
        ("!!bool 'true'", True),
        ("!!null ''", None),
        ("!!map {a: 1}", {"a": 1}),
        ("!!seq [1]", [1]),
        ("! [1]", [1]),
        ("|\n  a\n  b\n", "a\nb\n"),
    ],
)
def test_a_word_means_what_the_core_schema_says(spelled: str, value: Any) -> None:
    """Booleans, numbers and null are those of YAML 1.2; clocks, days and yes or no are text."""
    loaded = reader.load(f"key: {spelled}")["key"]
    assert loaded == value
    assert type(loaded) is type(value)


@pytest.mark.usefixtures("either_loader")
def test_nan_is_a_number() -> None:
    """`.nan` is the one number that is not itself."""
    assert all(math.isnan(number) for number in reader.load("[.nan, .NaN, .NAN]"))


@pytest.mark.usefixtures("either_loader")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only a comment\n", None),
        ("hello", "hello"),
        ("- a\n- [b, {c: d}]\n", ["a", ["b", {"c": "d"}]]),
        ("a: 1\r\nb:\r\n  - 2\r\n", {"a": 1, "b": [2]}),
        ("<<: {a: 1}\nb: 2", {"<<": {"a": 1}, "b": 2}),
        ("yes: 1\n22:00: 2\n2026-10-11: 3\n'1': 4", {"yes": 1, "22:00": 2, "2026-10-11": 3, "1": 4}),
        ("---\na: &x [1, 2]\nb: *x\nc: *x\n...\n", {"a": [1, 2], "b": [1, 2], "c": [1, 2]}),
        ("a: &x word\nb: {*x : 1}", {"a": "word", "b": {"word": 1}}),
        ("a: &x 1\nb: &x 2\nc: *x", {"a": 1, "b": 2, "c": 2}),
        ("\ufeffa: ž", {"a": "ž"}),
        (b"\xef\xbb\xbfa: \xc5\xbe", {"a": "ž"}),
    ],
)
def test_one_document_gives_one_value(text: str | bytes, value: Any) -> None:
    """Mappings, lists, aliases, line ends and a byte order mark are read as they are meant."""
    assert reader.load(text) == value


@pytest.mark.usefixtures("either_loader")
@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("kind: alert\ntitle: Assignment 1: Some Title", 2, 20, '"title: Assignment 1: Some Title" cannot be read'),
        ("title: Assignment 1: Some Title", 1, 20, 'a value with ": " in it needs quotes'),
        ("kind: [lock\n", 1, 7, "close the list with ]"),
        ("kind: [\n", 1, 8, "is never closed; close it with ] or }"),
        ("a: 1\nb: 'open\n", 2, 4, "close the quote"),
        ("a: 'open\n---\n", 2, 1, "while scanning a quoted scalar begun on line 1"),
        ("a:\n\t- b", 2, 1, "indent with spaces"),
        ("a: @b", 1, 4, "needs quotes"),
        ("a:\n  - b\n - c", 3, 2, "indent all keys of one mapping alike"),
        ("a: - b", 1, 4, "begin a list on a line of its own"),
        ("a: 1\nb:\n  c: 1\n  c: 2", 4, 3, 'the key "c" is on line 3 and again on line 4'),
        ("'a': 1\n\"a\": 2", 2, 1, 'the key "a" is on line 1 and again on line 2'),
        ("1: a", 1, 1, "keys are text, and 1 is not; put quotes around it"),
        ("true: a", 1, 1, "keys are text, and true is not"),
        ("? \n: a", 1, 2, "keys are text, and an empty key is not"),
        ("a: {{x}}", 1, 5, "keys are text, not mappings or lists"),
        ("? [a]\n: b", 1, 3, "keys are text, not mappings or lists"),
        ("a: &x [b]\nc: {*x : 1}", 2, 5, "keys are text, and *x is not"),
        ("a: !foo b", 1, 4, "the tag !foo is not allowed here"),
        ("a: !!python/object:os.system b", 1, 4, "the tag !!python/object:os.system is not allowed"),
        ("a: !!python/dict {b: c}", 1, 4, "the tag !!python/dict is not allowed"),
        ("a: !!map [b]", 1, 4, "the tag !!map is not allowed"),
        ("a: !!timestamp 2026-10-11", 1, 4, "the tag !!timestamp is not allowed"),
        ("a: !!int b", 1, 4, '"b" is not a !!int'),
        ("a: !!int true", 1, 4, '"true" is not a !!int'),
        ("a: *b", 1, 4, "*b names no anchor above it"),
        ("a: &b [*b]", 1, 8, "*b refers to a value that contains it"),
        ("a: 1\n---\nb: 2", 2, 1, "a second document begins here"),
        ("a: 1\n...\nb: 2", 3, 1, "remove what follows the end of the document"),
        ("a: 1\nb: \x1b[31m", 2, 4, "U+001B is not allowed in YAML"),
        ("a: \udcff", 1, 4, "U+DCFF is not allowed in YAML"),
        (b"a: 1\nb: caf\xe9", 2, 7, "byte 0xe9 is not UTF-8"),
        ("a: 9223372036854775808", 1, 4, "is beyond 64 bits"),
        ("a: " + "9" * 5_000, 1, 4, "is beyond 64 bits"),
        ("a: 0x" + "f" * 5_000, 1, 4, "is beyond 64 bits"),
        ("a: 1e999", 1, 4, "is beyond 64 bits"),
        ("- " * 65, 1, 129, "nested more than 64 levels deep"),
        ("%YAML 9.1\n---\na", 1, 1, "incompatible YAML document"),
    ],
)
def test_a_fault_is_a_sentence_that_says_where(text: str | bytes, line: int, column: int, words: str) -> None:
    """Every fault names line and column, counted from 1, and what to do, on libyaml and in pure Python alike."""
    fault = refused(text)
    assert (fault.line, fault.column) == (line, column)
    assert fault.sentence.startswith(f"line {line}, column {column}: ")
    assert words in fault.sentence
    assert "\n" not in fault.sentence


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "{a: " * 60_000,
        "- " * 100_000,
        "? " * 100_000,
        "a: " * 80_000,
        "[" + "1," * 100_000 + "]",
        "*" * 200_000,
        "&a " * 80_000,
        "!" * 200_000,
        "k" * 200_000 + ": x",
    ],
)
def test_a_bomb_is_refused(text: str) -> None:
    """Depth and number are bounded before they can hurt."""
    assert len(refused(text).sentence) < 400


def test_aliases_cannot_multiply() -> None:
    """What an alias stands for is counted anew wherever it is used, in values, text and levels."""
    laughs = "".join(f"b{i}: &b{i} [{', '.join([f'*b{i - 1}'] * 9)}]\n" for i in range(1, 9))
    assert "expands to more than 20,000 values" in refused(f"b0: &b0 [x, x]\n{laughs}").sentence
    assert "expands to more than 20,000 values" in refused(f"a: &a {'x' * 100_000}\nb: [{'*a, ' * 20}]").sentence
    tower = "b0: &b0 []\n" + "".join(f"b{i}: &b{i} [*b{i - 1}]\n" for i in range(1, 70))
    assert "nested more than 64 levels" in refused(tower).sentence


def test_the_limit_is_of_bytes() -> None:
    """A document above the limit is refused before it is parsed, whether it comes as text or as bytes."""
    assert reader.load("a: ž", limit=5) == {"a": "ž"}
    for text in ("a: žž", "a: žž".encode()):
        with pytest.raises(DocumentError, match="this has 7 bytes and at most 5 are read"):
            reader.load(text, limit=5)


@pytest.mark.parametrize("fault", [ValueError, TypeError, OverflowError, RecursionError, pyyaml.YAMLError])
def test_a_fault_without_a_place_is_a_sentence_too(fault: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the parser raises comes out as the one error of this module."""

    class Failing(pyyaml.SafeLoader):
        def check_event(self, *_: Any) -> bool:
            raise fault("odd\nmatter")

    monkeypatch.setattr(pyyaml, "CSafeLoader", Failing)
    assert refused("a: 1").sentence == "this cannot be read as YAML (odd matter); correct it"


leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(values)
def test_what_was_written_is_read_back(value: Any) -> None:
    """A value comes back as it was, every scalar of it quoted and tagged."""
    assert reader.load(pyyaml.safe_dump(value, default_style='"')) == value


def fragments() -> Iterator[str]:
    """Pieces that YAML gives a meaning to."""
    yield from (
        "a",
        "b: ",
        "- ",
        "? ",
        ": ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\n",
        "  ",
        "\t",
        "'",
        '"',
        "|",
        ">",
        "&a ",
        "*a ",
    )
    yield from (
        "!",
        "!!int ",
        "%",
        "@",
        "`",
        "#",
        "---",
        "...",
        "\\",
        "1",
        "0x",
        "é",
        "\u2028",
        "\x85",
        "\r",
        "\ufeff",
        "~",
    )


@pytest.mark.usefixtures("either_loader")
def test_any_text_is_a_value_or_a_sentence() -> None:
    """No text, whatever it is made of, raises anything but the one error."""

    @given(st.lists(st.sampled_from(tuple(fragments()))).map("".join) | st.text() | st.binary())
    def holds(text: str | bytes) -> None:
        with suppress(DocumentError):
            reader.load(text)

    holds()
