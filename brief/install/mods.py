"""The table of mods: the client, the shipped files, the place, and the policy key that consents to it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from brief.core.policy.names import SWITCH
from brief.sessions.channel_scope import MOD_TARGET
from brief.support.home import home_folder

MARKER = ".majordomus.json"
"""The file that marks a folder as ours. It lists what was written, so that an edit differs from an older version."""


class Scope(StrEnum):
    """The sessions that a mod is installed for: those that start in one checkout, or all of this person's."""

    PROJECT = "project"
    USER = "user"


class Mod(Struct, frozen=True):
    """A mod. `source` is relative to the shipped mods, `target` to the client's folder; `policy_key` must be true."""

    name: str
    provider: str
    source: str
    target: str
    policy_key: str
    marker: str = MARKER


class Provider(Struct, frozen=True):
    """A client. `folder` is its folder in a checkout; `variable` is the environment variable that may name the person's own folder instead."""

    folder: str
    variable: str

    def home_folder(self, environ: Mapping[str, str] = os.environ) -> Path:
        """The person's own folder of this client: in their home, unless the variable names another."""
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
"""All mods."""
