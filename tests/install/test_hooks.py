from __future__ import annotations

import json
import shlex
import subprocess
import sysconfig
from pathlib import Path

import pytest

from brief.fastpath.hook import EVENTS
from brief.install.hooks import NEVER_BLOCK, make_snippet
from brief.install.mods import Scope
from sandbox import Lab


def test_the_snippet_is_settings() -> None:
    """The snippet is one JSON document with every hook and the status line, each with the command's full path."""
    settings = json.loads(make_snippet(("/opt/the python", "-m", "brief"), Scope.USER))
    assert set(settings) == {"hooks", "statusLine"}
    assert settings["statusLine"]["refreshInterval"] == 60
    runs = {name: [run for entry in entries for run in entry["hooks"]] for name, entries in settings["hooks"].items()}
    assert {run["type"] for each in runs.values() for run in each} == {"command"}
    named = {
        name: [shlex.split(run["command"].removesuffix(NEVER_BLOCK))[3:] for run in each] for name, each in runs.items()
    }
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
    hooks = json.loads(make_snippet(("majordomus",), Scope.PROJECT))["hooks"]
    wake_state = [
        run for name in ("SessionStart", "Stop") for run in hooks[name][0]["hooks"] if "wake" in run["command"]
    ]
    assert len(wake_state) == 2
    for run in wake_state:
        assert run["asyncRewake"] is True
        assert 1440 * 60 < run["timeout"] < 2**31 // 1000


@pytest.mark.parametrize("descriptors", range(3, 13))
def test_a_hook_blocks_no_prompt(descriptors: int, lab: Lab) -> None:
    """However few descriptors its shell has, it never ends with 2, which would block the prompt."""
    script = Path(sysconfig.get_path("scripts"), "majordomus")
    settings = json.loads(make_snippet((str(script),), Scope.USER))
    for name in ("SessionStart", "UserPromptSubmit", "SessionEnd"):
        command = settings["hooks"][name][0]["hooks"][0]["command"]
        done = subprocess.run(
            ["/bin/sh", "-c", f"ulimit -n {descriptors}; {command}"],
            cwd=lab.repo,
            env=lab.env,
            input=b"{}",
            capture_output=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
