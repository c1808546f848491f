from __future__ import annotations

import json
import shlex

from brief.fastpath.hook import EVENTS
from brief.install.hooks import snippet
from brief.install.mods import Scope


def test_the_snippet_is_settings() -> None:
    """The snippet is one JSON document with every hook and the status line, each with the command's full path."""
    settings = json.loads(snippet(("/opt/the python", "-m", "brief"), Scope.USER))
    assert set(settings) == {"hooks", "statusLine"}
    assert settings["statusLine"]["refreshInterval"] == 60
    runs = {name: [run for entry in entries for run in entry["hooks"]] for name, entries in settings["hooks"].items()}
    assert {run["type"] for each in runs.values() for run in each} == {"command"}
    named = {name: [shlex.split(run["command"])[3:] for run in each] for name, each in runs.items()}
    wake = ["hook", "wake", "--scope", "user"]
    assert named == {
        "SessionStart": [["hook", "session-start"], wake],
        "UserPromptSubmit": [["hook", "user-prompt-submit"]],
        "Stop": [wake],
        "SessionEnd": [["hook", "session-end"]],
    }
    assert set(named) == set(EVENTS.values())


def test_the_wake_waits_in_the_background() -> None:
    """The waking hook runs longer than any interval, but no longer than the client's timers can count."""
    hooks = json.loads(snippet(("majordomus",), Scope.PROJECT))["hooks"]
    wake_state = [
        run for name in ("SessionStart", "Stop") for run in hooks[name][0]["hooks"] if "wake" in run["command"]
    ]
    assert len(wake_state) == 2
    for run in wake_state:
        assert run["asyncRewake"] is True
        assert 1440 * 60 < run["timeout"] < 2**31 // 1000
