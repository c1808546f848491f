"""The scope of a session's channel, as the files of Claude Code prove it.

What a client claims about its scope can only make it stricter. A channel is the project's if the project has it and the
person has none of their own. Any other, and any that cannot be proven, is the person's and needs trust to wake a session.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from brief.fastpath.known import ABSENT, Known, Unknown
from brief.sessions.activity import Scope
from brief.support.files import UnreadableFileError, read_bounded, reason_of

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

MOD_TARGET = "skills/majordomus-brief"
"""Where the mod is installed below a folder of the client: the person's own, or `.claude` in a checkout."""

PROJECT_SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
PERSON_SETTINGS = "settings.json"

_MOST_BYTES = 1_048_576
_WAKE = re.compile(r"""(?:(?:^|[\s/'"`;&|(])majordomus['"]?|\s-m\s+brief)\s+hook\s+wake(?![\w./-])""")
_OF_PROJECT = re.compile(_WAKE.pattern + r"\s+--scope[\s=]+project(?![\w./-])")


def scope_of_mod(claimed: Scope, person: str, roots: Iterable[str]) -> Scope:
    """The scope of a mod that claims one.

    `person` is the person's folder of the client, `roots` are the checkouts of the repository.
    """
    if claimed != "project" or find_mod(person) is not ABSENT:
        return "user"
    return "project" if any(isinstance(find_mod(f"{root}/.claude"), Known) for root in roots) else "user"


def scope_of_hook(claimed: Scope, persons: Iterable[str], project: str) -> Scope:
    """The scope of a waking hook that claims one in its command.

    `persons` are the folders that may be the person's own of this client, `project` is the one whose settings it reads.
    """
    if claimed != "project":
        return "user"
    own = [declares_wake(f"{folder}/{PERSON_SETTINGS}", claimed="user") for folder in persons]
    shared = [declares_wake(f"{project}/{name}", claimed="project") for name in PROJECT_SETTINGS]
    is_own = any(one is not ABSENT and one != Known(value=False) for one in own)
    is_shown = Known(value=True) in shared and not any(isinstance(one, Unknown) for one in shared)
    return "project" if is_shown and not is_own else "user"


def find_mod(folder: str) -> Reading[str]:
    """The path of the mod below a folder of the client, if it is there in the form that the client loads."""
    path = f"{folder}/{MOD_TARGET}"
    try:
        os.stat(f"{path}/.claude-plugin")
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except (OSError, ValueError) as fault:
        return Unknown(f"cannot be accessed: {reason_of(fault)}")
    return Known(path)


def declares_wake(path: str, claimed: Scope) -> Reading[bool]:
    """Whether a settings file declares a hook that runs our waking command.

    With the claim `project`, only a command with `--scope project` counts; with `user`, any does.
    """
    try:
        settings = json.loads(read_bounded(os.path.realpath(path), _MOST_BYTES))
    except FileNotFoundError:
        return ABSENT
    except UnreadableFileError as fault:
        return Unknown(str(fault))
    except (ValueError, RecursionError):
        return Unknown("is not JSON")
    pattern = _OF_PROJECT if claimed == "project" else _WAKE
    return Known(any(pattern.search(command) for command in _commands(settings)))


def _commands(settings: Any) -> Iterator[str]:
    """Every command that the hooks of a settings document run: event, matchers, hooks, command."""
    events = settings.get("hooks") if isinstance(settings, dict) else None
    for matchers in events.values() if isinstance(events, dict) else ():
        for hook in hooks_of(matchers):
            yield command_of(hook)


def hooks_of(matchers: object) -> Iterator[object]:
    """The hooks of one event. Anything that does not have the client's shape is ignored."""
    for matcher in matchers if isinstance(matchers, list) else ():
        named = matcher.get("hooks") if isinstance(matcher, dict) else None
        yield from named if isinstance(named, list) else ()


def command_of(hook: object) -> str:
    """The command of a hook or a status line with its arguments, or an empty text."""
    if not isinstance(hook, dict):
        return ""
    args = hook.get("args")
    words = [hook.get("command"), *(args if isinstance(args, list) else ())]
    return " ".join(word for word in words if isinstance(word, str))
