"""The table of mods: which client, what ships, where it goes, and which key of the policy consents to it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from brief.core.policy.names import SWITCH
from brief.sessions.channel_scope import MOD_TARGET
from brief.support.home import home_folder

MARKER = ".majordomus.json"
"""The file that tells a folder of ours; it also holds what was written, so that an edit is known from an older version."""


class Scope(StrEnum):
    """For whom a mod is installed: the sessions that start in one checkout, or all of this person's."""

    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Mod:
    """One mod: `source` below the shipped mods, `target` below the client's folder, `policy_key` that must be true."""

    name: str
    provider: str
    source: str
    target: str
    policy_key: str
    marker: str = MARKER


@dataclass(frozen=True, slots=True)
class Provider:
    """A client: its folder in a checkout, and the person's own, which a variable may name."""

    folder: str
    variable: str

    def home(self, environ: Mapping[str, str] = os.environ) -> Path:
        """The person's own folder of this client, below their home unless the variable names another."""
        named = environ.get(self.variable, "")
        return Path(named) if os.path.isabs(named) else home_folder(environ) / self.folder


PROVIDERS = {"claude-code": Provider(folder=".claude", variable="CLAUDE_CONFIG_DIR")}

MODS = (
    Mod(
        name="majordomus-brief",
        provider="claude-code",
        source="claude-code/majordomus-brief",
        target=MOD_TARGET,
        policy_key=SWITCH,
    ),
)
"""Every mod there is, one row each."""
