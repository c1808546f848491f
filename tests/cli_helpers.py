"""Run commands about one repository, each in its own process and within a time limit."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from typing import Any

from sandbox import Lab

ANSWERED_S = 2.5
"""The time limit of a command, in seconds, even if its server is silent."""

HOOKED_S = 1.0


def command(lab: Lab, *words: str, seconds: float = ANSWERED_S, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """A command that fails its test where it takes longer.

    On a machine that is busy it is tried again, and may take what it takes there to start and do nothing besides.
    """
    with contextlib.suppress(subprocess.TimeoutExpired):
        return lab.majordomus(*words, seconds=seconds, stdin=stdin)
    begun = time.monotonic()
    lab.majordomus("--version", spawn=True)
    return lab.majordomus(*words, seconds=seconds + 2 * (time.monotonic() - begun), stdin=stdin)


def brief(lab: Lab, **named: Any) -> dict[str, Any]:
    """Return the brief that a command prints."""
    done = command(lab, "brief", "--format", "json", **named)
    assert (done.returncode, done.stderr) == (0, "")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def section(told: dict[str, Any], name: str) -> dict[str, Any]:
    """Return one section of a brief."""
    found: dict[str, Any] = next(one for one in told["sections"] if one["name"] == name)
    return found


def hooked(lab: Lab, event: str) -> str:
    """Return what a session reads at an event of its client."""
    done = command(lab, "hook", event, seconds=HOOKED_S, stdin=json.dumps({"session_id": "s", "cwd": str(lab.repo)}))
    assert (done.returncode, done.stderr) == (0, "")
    context: str = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""
    return context


def told_alone(lab: Lab, why: str) -> None:
    """Every kind of command works without a server and says why none answered, so that nobody takes that for an empty board."""
    told = brief(lab)
    assert told["answered_by"]["kind"] == "self"
    assert why in told["answered_by"]["reason"]
    assert "peers" in told["unread"]
    assert section(told, "peers")["data"] is None
    assert section(told, "alerts")["status"] == "read"
    assert "lock on koda" in command(lab, "brief").stdout
    for words in ("peers list", "episode list", "serve status"):
        done = command(lab, *words.split())
        assert (done.returncode, done.stdout) == (1, "")
        assert why in done.stderr, words
    assert "lock on koda" in hooked(lab, "user-prompt-submit")
    assert "lock on koda" in hooked(lab, "session-start")
    assert command(lab, "statusline", stdin="{}").stdout.count("\n") == 1
