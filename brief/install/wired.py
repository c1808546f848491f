"""Which of our hooks, and whether our status line, the client's settings name; the files are read and never written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from brief.core.model.wire import Wire
from brief.core.text.sanitize import wire
from brief.fastpath.hook import EVENTS, WAKE
from brief.fastpath.known import Known, Unknown
from brief.install.client import inner, look_at_document, settings_files
from brief.install.mods import PROVIDERS
from brief.sessions.channel_scope import command_of, hooks_of

STATUSLINE = "statusline"

_COMMAND = re.compile(
    r"""(?:(?:^|[\s/'"`;&|(])majordomus['"]?|\s-m\s+brief)\s+(?:hook\s+([\w-]+)|statusline)(?![\w./-])"""
)
"""The script by any path, or the module by any interpreter; the mod looks for the same."""

_EVENTS = {**{name: event for event, name in EVENTS.items()}, **{event: event for event in (*EVENTS, WAKE)}}


class Wired(Wire):
    """One settings file, with the events of our hooks that it names, and whether it names our status line.

    `unread` is why that is unknown, None where the file was read.
    """

    path: str
    hooks: tuple[str, ...]
    statusline: bool
    unread: str | None = None

    @property
    def commands(self) -> tuple[str, ...]:
        """What it names, as words of a command."""
        return (*(f"hook {event}" for event in self.hooks), *((STATUSLINE,) if self.statusline else ()))


def wired(provider: str, root: str | None, environ: Mapping[str, str] = os.environ) -> tuple[Wired, ...]:
    """The settings files that name a command of ours, or may: the person's, and those of the checkout `root` if there is one."""
    paths = dict.fromkeys(settings_files(PROVIDERS[provider].home(environ), root))
    looked_at = (_looked_at(path) for path in paths)
    return tuple(one for one in looked_at if one.commands or one.unread)


def _looked_at(path: Path) -> Wired:
    found = look_at_document(path)
    settings = found.value if isinstance(found, Known) else {}
    runs = [command_of(run) for entries in inner(settings, "hooks").values() for run in hooks_of(entries)]
    events = dict.fromkeys(_EVENTS[name] for run in runs for name in _COMMAND.findall(run) if name in _EVENTS)
    line = _COMMAND.search(command_of(settings.get("statusLine")))
    return Wired(
        path=wire(str(path)),
        hooks=tuple(events),
        statusline=line is not None and line[1] is None,
        unread=found.reason if isinstance(found, Unknown) else None,
    )
