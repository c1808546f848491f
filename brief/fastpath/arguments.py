"""The words of a command that a server can answer, read by the generated table of commands.

Only what is plainly understood is read. Help, abbreviations, mistakes and unusual text are the whole command's.
"""

from __future__ import annotations

import os

from brief.fastpath.command_table import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from brief.fastpath.command_table import Entry, Type

MOST_BYTES = 32_768
"""More text than this in one call is looked at by the whole command."""


def is_models_shell() -> bool:
    """Whether this is a shell that a client gave to a model: what is for the owner alone is not shown there."""
    return bool(os.environ.get("CLAUDECODE"))


class Arguments:
    """A call whose words are all understood: `fields` are its input by name, less root, form and width."""

    __slots__ = ("command", "entry", "fields", "format", "root", "strict")

    def __init__(self, command: str, entry: Entry) -> None:
        self.command = command
        self.entry = entry
        self.fields: dict[str, object] = {}
        self.format: str = entry[4][0] if command != "brief" else "text"
        self.root: str | None = None
        self.strict = False


def read_arguments(words: list[str]) -> Arguments | None:
    """The call that `words` make; None where the whole command must look at them."""
    if not _is_plain(words):
        return None
    for count in (1, 2):
        command = " ".join(words[:count])
        entry = COMMANDS.get(command)
        if entry is not None and len(words) >= count:
            return _read(Arguments(command, entry), words[count:])
    return None


def _is_plain(words: list[str]) -> bool:
    """Whether the words are short and all of them are UTF-8."""
    try:
        return sum(len(word.encode()) for word in words) <= MOST_BYTES
    except UnicodeEncodeError:
        return False


def _read(call: Arguments, words: list[str]) -> Arguments | None:
    positionals = list(call.entry[5])
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("-"):
            if not word or not positionals or not _put(call, *positionals.pop(0)[:2], word):
                return None
            continue
        name, is_joined, value = word.partition("=")
        kind = _kind(call, name)
        is_flag = kind in ("flag", "owner")
        if kind is None or (is_flag and is_joined):
            return None
        if not is_flag and not is_joined:
            if at == len(words) or words[at].startswith("-"):
                return None
            value = words[at]
            at += 1
        if not _set(call, name, value):
            return None
    return None if any(required for _, _, required in positionals) else call


def _kind(call: Arguments, name: str) -> Type | None:
    """The type of an option; None where the command has none of this name."""
    if name in call.entry[6]:
        return call.entry[6][name][1]
    if (name == "--strict" and call.entry[3]) or (name == "--line" and call.command == "brief"):
        return "flag"
    return "text" if name in ("--root", "--format") else None


def _set(call: Arguments, name: str, value: str) -> bool:
    """Whether the option takes this value, which it then has."""
    if name == "--root":
        call.root = value
    elif name == "--strict":
        call.strict = True
    elif name == "--line":
        call.format = "line"
    elif name == "--format":
        call.format = value
        return value in call.entry[4]
    else:
        field, kind, is_repeatable = call.entry[6][name]
        return _put(call, field, kind, value, is_repeatable=is_repeatable)
    return True


def _put(call: Arguments, field: str, kind: Type, text: str, *, is_repeatable: bool = False) -> bool:
    """Whether `text` is a value of the type, which the field then has; the last of several counts."""
    value: object = text
    if kind == "owner" and is_models_shell():
        return False
    if kind in ("flag", "owner"):
        value = True
    elif kind == "int":
        if not (text.isascii() and text.isdigit()):
            return False
        value = int(text)
    elif kind == "file":
        value = os.path.abspath(text)
    elif kind != "text" and text not in kind:
        return False
    if is_repeatable:
        values = call.fields.setdefault(field, [])
        assert isinstance(values, list)  # noqa: S101 - a field is either repeatable or not
        values.append(value)
    else:
        call.fields[field] = value
    return True
