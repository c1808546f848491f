from __future__ import annotations

import pytest

from brief.fastpath.words import read_call

VALUES = {"root": "/a", "session": "s", "format": "json", "width": "80", "budget": "900"}


def spelled(options: list[tuple[str, str]], *, joined: bool) -> list[str]:
    """The options as words."""
    if joined:
        return [f"--{name}={value}" for name, value in options]
    return [word for name, value in options for word in (f"--{name}", value)]


@pytest.mark.parametrize("joined", [False, True])
def test_every_option_in_both_spellings(joined: bool) -> None:
    """`--name value` and `--name=value` are the same call."""
    call = read_call(
        [*spelled([*VALUES.items(), ("section", "peers"), ("section", "mesh")], joined=joined), "--strict"]
    )
    assert call is not None
    assert {name: getattr(call, name) for name in VALUES} == VALUES
    assert (call.sections, call.strict) == (["peers", "mesh"], True)


def test_no_words() -> None:
    """A call without options leaves every one of them open."""
    call = read_call([])
    assert call is not None
    assert call.params("/r") == [("root", "/r")]
    assert call.strict is False


def test_params() -> None:
    """The query holds the root and what was given, a section as often as it was named."""
    call = read_call(["--line", "--section=peers", "--section=mesh", "--width=9"])
    assert call is not None
    assert call.params("/r") == [
        ("root", "/r"),
        ("format", "line"),
        ("width", "9"),
        ("section", "peers"),
        ("section", "mesh"),
    ]


@pytest.mark.parametrize("words", [["--line", "--format", "json"], ["--format=line", "--format=json"]])
def test_last_word_counts(words: list[str]) -> None:
    """Of two forms the last one counts, as in the whole command."""
    call = read_call(words)
    assert call is not None
    assert call.format == "json"


@pytest.mark.parametrize("form", ["text", "json", "prompt", "line"])
def test_forms(form: str) -> None:
    """Every form of a brief is taken."""
    call = read_call(["--format", form])
    assert call is not None
    assert call.format == form


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["-h"],
        ["peers"],
        [""],
        ["--"],
        ["--roots", "/a"],
        ["--sess", "s"],
        ["--strict=yes"],
        ["--line=yes"],
        ["--format", "xml"],
        ["--format="],
        ["--root"],
        ["--session", "--line"],
        ["--width", "-5"],
        ["--root", "/a", "extra"],
    ],
    ids=" ".join,
)
def test_anything_else_is_the_whole_commands(words: list[str]) -> None:
    """Help, mistakes and abbreviations go to the whole command, which tells about them."""
    assert read_call(words) is None
