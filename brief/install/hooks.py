"""The channel for a client without mods: hooks and a status line, as a snippet that a person puts into their settings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from brief.fastpath.hook import EVENTS
from brief.install.mods import Scope

REFRESH_SECONDS = 60

WAIT_SECONDS = 2_000_000
"""How long a client lets the process wait that wakes its session: 23 days, just short of what its timers can count."""

WAKING: dict[str, object] = {
    "asyncRewake": True,
    "timeout": WAIT_SECONDS,
    "rewakeSummary": "majordomus wakes this idle session with its brief",
}


def snippet(command: Sequence[str], scope: Scope) -> str:
    """The JSON for a `settings.json` of Claude Code; every command is named by its whole path.

    The one that wakes carries whose settings it is for: it wakes sessions of a project at once, of the user where trusted.

    The process that wakes is started where a session begins and where a turn of it ends, which it tells the server too.
    """

    def run(*words: str) -> dict[str, object]:
        return {"type": "command", "command": shlex.join([*command, *words])}

    message = {"rewakeMessage": f"From a hook of the {scope.value}'s settings:"}
    wake = run("hook", "wake", "--scope", scope.value) | WAKING | message
    hooks = {name: [{"hooks": [run("hook", event)]}] for event, name in EVENTS.items()}
    hooks["SessionStart"][0]["hooks"].append(wake)
    hooks["Stop"] = [{"hooks": [wake]}]
    line = run("statusline") | {"refreshInterval": REFRESH_SECONDS}
    return json.dumps({"statusLine": line, "hooks": hooks}, indent=2)
