"""The client's settings files that name our hooks or our status line. They are read and never written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from brief.core.model.wire import Wire
from brief.core.text.sanitize import to_wire
from brief.fastpath.hook import EVENTS, WAKE
from brief.fastpath.known import Known, Unknown
from brief.install.client import find_document, object_under, settings_files
from brief.install.mods import PROVIDERS
from brief.sessions.channel_scope import command_of, hooks_of

STATUSLINE = "statusline"

_COMMAND = re.compile(
    r"""(?:(?:^|[\s/'"`;&|(])majordomus['"]?|\s-m\s+brief)\s+(?:hook\s+([\w-]+)|statusline)(?![\w./-])"""
)
"""The script by any path, or the module by any interpreter. The mod looks for the same pattern."""

_EVENTS = {**{name: event for event, name in EVENTS.items()}, **{event: event for event in (*EVENTS, WAKE)}}


class HookSettings(Wire, frozen=True):
    """A settings file, with the events of our hooks that it names, and whether it names our status line.

    `unread` is why these are unknown, None if the file was read.
    """

    path: str
    hooks: tuple[str, ...]
    statusline: bool
    unread: str | None = None

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands of ours that it names, as their words."""
        return (*(f"hook {event}" for event in self.hooks), *((STATUSLINE,) if self.statusline else ()))


def find_hook_settings(
    provider: str, root: str | None, environ: Mapping[str, str] = os.environ
) -> tuple[HookSettings, ...]:
    """The settings files that name a command of ours, or that may: the person's, and those of the checkout `root`, if any."""
    paths = dict.fromkeys(settings_files(PROVIDERS[provider].home_folder(environ), root))
    files = (_read_settings(path) for path in paths)
    return tuple(one for one in files if one.commands or one.unread)


def _read_settings(path: Path) -> HookSettings:
    found = find_document(path)
    settings = found.value if isinstance(found, Known) else {}
    runs = [command_of(run) for entries in object_under(settings, "hooks").values() for run in hooks_of(entries)]
    events = dict.fromkeys(_EVENTS[name] for run in runs for name in _COMMAND.findall(run) if name in _EVENTS)
    line = _COMMAND.search(command_of(settings.get("statusLine")))
    return HookSettings(
        path=to_wire(str(path)),
        hooks=tuple(events),
        statusline=line is not None and line[1] is None,
        unread=found.reason if isinstance(found, Unknown) else None,
    )
