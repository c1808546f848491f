from __future__ import annotations

import _json
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.fastpath.jsontext import read_json, write_json
from sandbox import SOURCE

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
NO_C = "import json, sys; sys.modules['_json'] = None; from brief.fastpath.jsontext import read_json, write_json; {}"


def outcome(read: Any, text: str | bytes) -> str:
    """The value that is read, or the fault, as text: so NaN equals itself and 1 is not 1.0."""
    try:
        return repr(read(text))
    except (ValueError, RecursionError) as fault:
        return f"{type(fault).__name__}: {fault}"


@given(VALUES, st.sampled_from([None, 1]), st.sampled_from(["", " ", "\r\n\t"]))
def test_reads_what_the_package_reads(value: object, indent: int | None, around: str) -> None:
    """Whatever the json package writes is read as that package reads it, as text and as bytes."""
    text = around + json.dumps(value, indent=indent) + around
    assert outcome(read_json, text) == outcome(json.loads, text)
    assert outcome(read_json, text.encode()) == outcome(json.loads, text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        '{"a": 1',
        '{"a": 1} x',
        "{} {}",
        '{"a": 1, "a": 2}',
        "{'a': 1}",
        "[1,]",
        "nul",
        "NaN",
        "-Infinity",
        "1e999",
        "01",
        '"\t"',
        '"\\ud800"',
        '"\\x41"',
        "\u00a0{}",
        "\ufeff{}",
        "\0",
        "9" * 5_000,
        "[" * 60_000,
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b'"\xed\xa0\x80"',
        '{"a": "ě"}'.encode("utf-16"),
        '{"a": "ě"}'.encode("latin-1", "replace"),
    ],
    ids=lambda text: repr(text)[:24],
)
def test_judges_as_the_package_judges(text: str | bytes) -> None:
    """Damaged or odd text is read, or refused with the very same words, as by the json package."""
    assert outcome(read_json, text) == outcome(json.loads, text)


@given(VALUES)
def test_writes_what_the_package_writes(value: object) -> None:
    """The output is the same as the json package's, letter for letter."""
    assert write_json(value) == json.dumps(value)


def test_what_has_no_text() -> None:
    """A value that JSON cannot hold, or a name that is none, is the package's to judge."""
    with pytest.raises(TypeError):
        write_json({"a": object()})
    assert write_json({1: "a", None: "b"}) == '{"1": "a", "null": "b"}'


def test_scanner_that_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python whose scanner takes or gives something else costs time, and changes nothing that is read."""
    for scanner in (lambda terms: None, lambda: None, lambda terms: lambda text, at: {"wrong": text}):
        monkeypatch.setattr(_json, "make_scanner", scanner)
        assert read_json('{"a": [1, null]}') == {"a": [1, None]}


@pytest.mark.parametrize(
    "code",
    ["""print(read_json('{"a": [1]}')['a'][0])""", """print(read_json(write_json({'a': {'b': 1}}))['a']['b'])"""],
    ids=["read", "write"],
)
def test_python_without_the_c_code(code: str) -> None:
    """Without the C code the json package does everything."""
    done = subprocess.run([sys.executable, "-c", NO_C.format(code)], cwd=SOURCE, capture_output=True, check=True)
    assert done.stdout == b"1\n"
