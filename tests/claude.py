"""The real client, from npm into a cache of the tests, as a process in tmux that talks to nobody but a stub."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from messages import Messages
from npm import program
from sandbox import Lab, until

VERSION = "2.1.332"
"""The client that the live tests run; the one place that names it."""

_PROMPT = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
_KEY = "sk-ant-of-no-account"


def client() -> str:
    """The program."""
    return program("@anthropic-ai/claude-code", VERSION, "claude")


def environment(lab: Lab, messages: Messages | None = None) -> dict[str, str]:
    """The lab's world for a client: its own home, no key of anybody, and nobody to talk to but the stub."""
    address = messages.address if messages else "http://127.0.0.1:9"
    return {
        **lab.env,
        "TERM": "xterm-256color",
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": _KEY,
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    }


def settle_in(lab: Lab, *trusted: Path, **settings: object) -> None:
    """A home in which the client asks no first questions, trusts these folders, and has these settings."""
    home = lab.home / ".claude"
    home.mkdir(exist_ok=True)
    known = {str(folder): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True} for folder in trusted}
    own = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": VERSION,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
        "projects": known,
    }
    (home / ".claude.json").write_text(json.dumps(own))
    (home / "settings.json").write_text(json.dumps(settings))


class Session:
    """One session of the client in a terminal of its own."""

    def __init__(
        self, lab: Lab, messages: Messages, folder: Path, columns: int = 100, words: Sequence[str] = ()
    ) -> None:
        self._server = ["tmux", "-S", str(lab.base / f"tmux-{os.urandom(3).hex()}")]
        self.log = lab.base / f"debug-{os.urandom(3).hex()}.log"
        self._env = environment(lab, messages)
        command = shlex.join([client(), "--debug-file", str(self.log), *words])
        size = ["-x", str(columns), "-y", "40"]
        self._tmux("-f", "/dev/null", "new-session", "-d", "-s", "s", *size, "-c", str(folder), command)
        until(lambda: _PROMPT in self.screen(), 40)

    def _tmux(self, *words: str) -> str:
        return subprocess.run(
            [*self._server, *words], env=self._env, capture_output=True, text=True, check=True, timeout=20
        ).stdout

    @property
    def pid(self) -> int:
        """The process of the client."""
        return int(self._tmux("display-message", "-p", "-t", "s", "#{pane_pid}"))

    def screen(self, *, styled: bool = False) -> str:
        """What is on the screen, without blank lines; with the escape sequences of its colours where `styled`."""
        drawn = self._tmux("capture-pane", "-p", "-t", "s", *(["-e"] if styled else []))
        return "\n".join(line.rstrip() for line in drawn.splitlines() if line.strip())

    def footer(self) -> list[str]:
        """The rows below the prompt box."""
        rows = self.screen().splitlines()
        last = max(number for number, row in enumerate(rows) if row.startswith("───"))
        return [row.strip() for row in rows[last + 1 :]]

    def shows(self, text: str, seconds: float = 30) -> None:
        """Wait until the text is on the screen; AssertionError with the screen where it does not come."""
        try:
            until(lambda: text in self.screen(), seconds)
        except AssertionError:
            raise AssertionError(f"{text!r} is not shown after {seconds} s:\n{self.screen()}") from None

    def draft(self, text: str) -> None:
        """Type without sending."""
        self._tmux("send-keys", "-t", "s", "-l", text)
        self.in_box(text)

    def in_box(self, text: str) -> None:
        """Wait until the text stands in the prompt box."""
        until(lambda: text in self.box(), 30)

    def say(self, text: str) -> None:
        """Type and send. What comes at once is a paste to the client, so Enter is pressed until it was taken."""
        self.draft(text)
        self.send(text)

    def send(self, text: str) -> None:
        """Send the draft `text`."""
        until(lambda: self._sent(text), 20)

    def _sent(self, text: str) -> bool:
        self.press("Enter")
        try:
            until(lambda: text not in self.box(), 1)
        except AssertionError:
            return False
        return True

    def box(self) -> str:
        """What stands in the prompt box."""
        rows = self.screen().splitlines()
        rules = [number for number, row in enumerate(rows) if row.startswith("───")]
        return "\n".join(rows[rules[-2] + 1 : rules[-1]]) if len(rules) > 1 else ""

    def press(self, *keys: str) -> None:
        """Press keys by the names that tmux has for them."""
        self._tmux("send-keys", "-t", "s", *keys)

    def attach(self) -> None:
        """Show it in the terminal of this process, until the client ends or is detached from."""
        env = self._env | {"TERM": os.environ.get("TERM", self._env["TERM"])}
        subprocess.run([*self._server, "attach"], env=env, check=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._server, "kill-server"], env=self._env, capture_output=True, check=False)
