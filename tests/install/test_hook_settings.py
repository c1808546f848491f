from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brief.install.hook_settings import HookSettings, find_hook_settings
from brief.install.hooks import make_snippet
from brief.install.mods import Scope


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home and a checkout, each with a folder of the client."""
    for name in ("home", "repo"):
        (tmp_path / name / ".claude").mkdir(parents=True)
    return tmp_path / "home"


def seen(home: Path, text: str, path: str = "../repo/.claude/settings.local.json") -> tuple[HookSettings, ...]:
    """The hook settings found if a settings file has that text."""
    (home / path).write_text(text)
    return find_hook_settings("claude-code", str(home.parent / "repo"), {"HOME": str(home)})


@pytest.mark.parametrize("command", [("/opt/my tools/majordomus",), ("/opt/the python", "-P", "-m", "brief")])
def test_the_printed_settings_are_known(home: Path, command: tuple[str, ...]) -> None:
    """Every command in the printed settings is found in them, once, whatever starts the command."""
    (found,) = seen(home, make_snippet(command, Scope.USER))
    assert found.commands == (
        "hook session-start",
        "hook wake",
        "hook user-prompt-submit",
        "hook session-end",
        "statusline",
    )


@pytest.mark.parametrize(
    "path", [".claude/settings.json", "../repo/.claude/settings.json", "../repo/.claude/settings.local.json"]
)
def test_every_file_is_looked_at(home: Path, path: str) -> None:
    """The person's settings and both of the project's are read, and the file is named."""
    (found,) = seen(home, '{"statusLine": {"command": "majordomus statusline"}}', path)
    assert (Path(found.path).resolve(), found.statusline, found.hooks) == ((home / path).resolve(), True, ())


def test_without_a_checkout(home: Path) -> None:
    """Outside every checkout only the person's settings are read."""
    seen(home, '{"statusLine": {"command": "majordomus statusline"}}')
    assert find_hook_settings("claude-code", None, {"HOME": str(home)}) == ()


@pytest.mark.parametrize(
    ("run", "events"),
    [
        ({"command": "majordomus hook Stop"}, ("stop",)),
        ({"command": "majordomus", "args": ["hook", "wake"]}, ("wake",)),
        ({"command": "cd /x && majordomus hook stop; true"}, ("stop",)),
        ({"command": "majordomus hook PreToolUse"}, ()),
        ({"command": "my-majordomus hook stop"}, ()),
        ({"command": "majordomus hook stop-it"}, ()),
        ({"command": "echo hook stop"}, ()),
        ({"command": 7, "args": "majordomus hook stop"}, ()),
        ("majordomus hook stop", ()),
        (None, ()),
    ],
)
def test_which_commands_are_ours(home: Path, run: Any, events: tuple[str, ...]) -> None:
    """A hook of ours is recognized by its command and a known event, alone or among other commands."""
    found = seen(home, json.dumps({"hooks": {"Any": [{"hooks": [run]}]}}))
    assert tuple(event for one in found for event in one.hooks) == events


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", "[" * 100_000),
        *('{"hooks": []}', '{"hooks": {"Stop": 3}}', '{"hooks": {"Stop": [3, {"hooks": 3}]}}'),
        *('{"statusLine": "majordomus statusline"}', '{"statusLine": {"command": null}}'),
    ],
    ids=lambda text: text[:40],
)
def test_settings_that_are_damaged(home: Path, text: str) -> None:
    """Settings of another shape name nothing, a file that is not settings is unknown, and nothing crashes."""
    found = seen(home, text)
    assert [one.commands for one in found] == [()] * len(found)
    is_document = text.startswith("{") and len(text) > 1
    assert [one.unread for one in found] == ([] if is_document else [found[0].unread or ""])
    assert is_document or (found[0].unread or "").startswith("is not ")
