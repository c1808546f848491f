"""The channel for a client without mods: hooks and a status line, as a snippet that a person adds to their settings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from brief.fastpath.hook import EVENTS
from brief.install.mods import Scope

REFRESH_SECONDS = 60

WAIT_SECONDS = 2_000_000
"""How long a client lets the process that wakes its session wait: 23 days, just below the limit of its timers."""

NEVER_BLOCK = " || exit 1"
"""A shell that cannot run our command, for lack of descriptors or of the right to read it, ends with 2. To the client a hook
that ends with 2 blocks the prompt, while it only reports one that ends with 1."""

WAKING: dict[str, object] = {
    "asyncRewake": True,
    "timeout": WAIT_SECONDS,
    "rewakeSummary": "majordomus wakes this idle session with its brief",
}


def make_snippet(command: Sequence[str], scope: Scope) -> str:
    """The JSON for a `settings.json` of Claude Code. Every command has its full path.

    The process that wakes a session is started when the session begins and whenever a turn ends, which it also reports
    to the server. `--scope` says whose settings name it: those of a project wake at once, the user's only if trusted.
    """

    def run(*words: str, guard: str = "") -> dict[str, object]:
        return {"type": "command", "command": shlex.join([*command, *words]) + guard}

    message = {"rewakeMessage": f"From a hook of the {scope.value}'s settings:"}
    wake = run("hook", "wake", "--scope", scope.value) | WAKING | message
    hooks = {name: [{"hooks": [run("hook", event, guard=NEVER_BLOCK)]}] for event, name in EVENTS.items()}
    hooks["SessionStart"][0]["hooks"].append(wake)
    hooks["Stop"] = [{"hooks": [wake]}]
    line = run("statusline") | {"refreshInterval": REFRESH_SECONDS}
    return json.dumps({"statusLine": line, "hooks": hooks}, indent=2)
