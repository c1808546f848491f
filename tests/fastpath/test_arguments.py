from __future__ import annotations

import os

import pytest

from brief.fastpath.arguments import MOST_BYTES, read_arguments

BRIEF = ["brief", "--session", "s", "--format", "json", "--width", "80", "--budget", "900", "--root", "/a"]


def joined(words: list[str]) -> list[str]:
    """The same options as `--name=value`."""
    return [words[0], *(f"{name}={value}" for name, value in zip(words[1::2], words[2::2], strict=True))]


@pytest.mark.parametrize("words", [BRIEF, joined(BRIEF)])
def test_options_in_both_spellings(words: list[str]) -> None:
    """`--name value` and `--name=value` are the same call."""
    call = read_arguments([*words, "--section", "peers", "--section=mesh", "--strict"])
    assert call is not None
    assert call.fields == {"session": "s", "width": 80, "budget": 900, "section": ["peers", "mesh"]}
    assert (call.root, call.format, call.strict) == ("/a", "json", True)


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (["brief"], "text"),
        (["brief", "--line"], "line"),
        (["brief", "--line", "--format", "json"], "json"),
        (["brief", "--format=line", "--format=prompt"], "prompt"),
        (["peers", "list"], "text"),
        (["peers", "list", "--format=json"], "json"),
    ],
)
def test_last_form_counts(words: list[str], form: str) -> None:
    """Of several forms the last one counts, and text is the default."""
    call = read_arguments(words)
    assert call is not None
    assert call.format == form


def test_positional_fields() -> None:
    """Words without dashes are the positional fields, before and after the options."""
    call = read_arguments(["task", "set", "--scope", "a", "fix login", "--scope=b"])
    assert call is not None
    assert call.fields == {"title": "fix login", "scope": ["a", "b"]}


def test_file_is_meant_from_the_current_folder() -> None:
    """A file that a command names is sent as an absolute path."""
    call = read_arguments(["alerts", "migrate", "REMINDERS.md"])
    assert call is not None
    assert call.fields == {"file": os.path.abspath("REMINDERS.md")}


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["peers"],
        ["peers", "lis"],
        ["brief", "--help"],
        ["brief", "-h"],
        ["brief", "peers"],
        ["brief", ""],
        ["brief", "--"],
        ["brief", "--roots", "/a"],
        ["brief", "--sess", "s"],
        ["brief", "--strict=yes"],
        ["brief", "--line=yes"],
        ["brief", "--format", "xml"],
        ["brief", "--format="],
        ["brief", "--root"],
        ["brief", "--session", "--line"],
        ["brief", "--width", "-5"],
        ["brief", "--width", "wide"],
        ["brief", "--width="],
        ["brief", "--width", "+5"],
        ["brief", "--width", "\u0665"],
        ["brief", "--section", "weather"],
        ["peers", "list", "--line"],
        ["task", "done", "--strict"],
        ["task", "set"],
        ["task", "set", "one", "two"],
        ["task", "set", "\udcff"],
        ["task", "set", "x" * (MOST_BYTES + 1)],
    ],
    ids=lambda words: " ".join(words)[:40].encode("ascii", "backslashreplace").decode(),
)
def test_anything_else_is_the_whole_commands(words: list[str]) -> None:
    """Help, mistakes, abbreviations and unusual text go to the whole command."""
    assert read_arguments(words) is None


def test_what_is_for_the_owner_is_asked_for_in_a_persons_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The switch is read there, and in the shell of a model it is left to the whole command, which refuses it."""
    monkeypatch.delenv("CLAUDECODE", raising=False)
    call = read_arguments(["alerts", "list", "--owner"])
    assert call is not None
    assert call.fields == {"owner": True}
    monkeypatch.setenv("CLAUDECODE", "1")
    assert read_arguments(["alerts", "list", "--owner"]) is None
