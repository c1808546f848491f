"""The carrier for a client without mods: hooks and a status line, as a snippet that a person puts into their settings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from brief.fast.hook import EVENTS

REFRESH_SECONDS = 60


def snippet(command: Sequence[str]) -> str:
    """The JSON for a `settings.json` of Claude Code; every command is named by its whole path."""

    def run(*words: str) -> dict[str, str]:
        return {"type": "command", "command": shlex.join([*command, *words])}

    hooks = {name: [{"hooks": [run("hook", event)]}] for event, name in EVENTS.items()}
    return json.dumps(
        {"statusLine": run("statusline") | {"refreshInterval": REFRESH_SECONDS}, "hooks": hooks}, indent=2
    )
