"""The real client, installed from npm into a cache of the tests. It runs in tmux and talks only to a stub."""

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
"""The version of the client that the live tests run. No other place names it."""

_PROMPT = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
_KEY = "sk-ant-of-no-account"


def client() -> str:
    """The path of the client's program."""
    return program("@anthropic-ai/claude-code", VERSION, "claude")


def environment(lab: Lab, messages: Messages | None = None) -> dict[str, str]:
    """The environment of a client in the lab: its own home, a key of no account, and only the stub to talk to."""
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
    """Prepare a home in which the client asks no first questions, trusts these folders and has these settings."""
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
    """A session of the client in its own terminal."""

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
        """The process number of the client."""
        return int(self._tmux("display-message", "-p", "-t", "s", "#{pane_pid}"))

    def screen(self, *, styled: bool = False) -> str:
        """The screen without blank lines; `styled` keeps the escape sequences of colours."""
        drawn = self._tmux("capture-pane", "-p", "-t", "s", *(["-e"] if styled else []))
        return "\n".join(line.rstrip() for line in drawn.splitlines() if line.strip())

    def footer(self) -> list[str]:
        """The rows below the prompt box."""
        rows = self.screen().splitlines()
        last = max(number for number, row in enumerate(rows) if row.startswith("───"))
        return [row.strip() for row in rows[last + 1 :]]

    def shows(self, text: str, seconds: float = 30) -> None:
        """Wait until the text is on the screen. Raises AssertionError with the screen if it does not appear."""
        try:
            until(lambda: text in self.screen(), seconds)
        except AssertionError:
            raise AssertionError(f"{text!r} is not shown after {seconds} s:\n{self.screen()}") from None

    def draft(self, text: str) -> None:
        """Type a text without sending it."""
        self._tmux("send-keys", "-t", "s", "-l", text)
        self.in_box(text)

    def in_box(self, text: str) -> None:
        """Wait until the text is in the prompt box."""
        until(lambda: text in self.box(), 30)

    def say(self, text: str) -> None:
        """Type and send a text. The client takes fast input for a paste, so Enter is pressed until the text is sent."""
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
        """The content of the prompt box."""
        rows = self.screen().splitlines()
        rules = [number for number, row in enumerate(rows) if row.startswith("───")]
        return "\n".join(rows[rules[-2] + 1 : rules[-1]]) if len(rules) > 1 else ""

    def press(self, *keys: str) -> None:
        """Press keys, named as in tmux."""
        self._tmux("send-keys", "-t", "s", *keys)

    def attach(self) -> None:
        """Show the session in the terminal of this process until the client ends or the person detaches."""
        env = self._env | {"TERM": os.environ.get("TERM", self._env["TERM"])}
        subprocess.run([*self._server, "attach"], env=env, check=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._server, "kill-server"], env=self._env, capture_output=True, check=False)
