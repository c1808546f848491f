from __future__ import annotations

import json
import shlex

from brief.capture.hooks import snippet
from brief.fast.hook import EVENTS


def test_the_snippet_is_settings() -> None:
    """The snippet is one JSON document with every hook there is and the status line, each by the command's whole path."""
    settings = json.loads(snippet(("/opt/the python", "-m", "brief")))
    assert set(settings) == {"hooks", "statusLine"}
    assert settings["statusLine"]["refreshInterval"] == 60
    for event, name in EVENTS.items():
        (entry,) = settings["hooks"][name]
        (run,) = entry["hooks"]
        assert run["type"] == "command"
        assert shlex.split(run["command"]) == ["/opt/the python", "-m", "brief", "hook", event]
