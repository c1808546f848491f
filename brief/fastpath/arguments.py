"""Parse the words of a command that a server can answer, using the generated command table.

Only unambiguous words are parsed here. Help, abbreviations, mistakes and unusual text are left to the whole command.
"""

from __future__ import annotations

import os

from brief.fastpath.command_table import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from brief.fastpath.command_table import Entry, Type

MOST_BYTES = 32_768
"""A call with more text than this is left to the whole command."""


MAY_BE_BLANK = ("body",)
"""Fields that may be blank. In every other field, blank text is a mistake."""


def is_models_shell() -> bool:
    """Whether a client gave this shell to a model. Owner-only notices are not shown in such a shell."""
    return bool(os.environ.get("CLAUDECODE"))


class Arguments:
    """A fully parsed call. `fields` holds its input by name, without root, format and width."""

    __slots__ = ("command", "entry", "fields", "format", "root", "strict")

    def __init__(self, command: str, entry: Entry) -> None:
        self.command = command
        self.entry = entry
        self.fields: dict[str, object] = {}
        self.format: str = entry[4][0] if command != "brief" else "text"
        self.root: str | None = None
        self.strict = False


def read_arguments(words: list[str]) -> Arguments | None:
    """Parse `words` into a call. None if the whole command must parse them."""
    if not _is_plain(words):
        return None
    for count in (1, 2):
        command = " ".join(words[:count])
        entry = COMMANDS.get(command)
        if entry is not None and len(words) >= count:
            return _read(Arguments(command, entry), words[count:])
    return None


def _is_plain(words: list[str]) -> bool:
    """Whether the words are valid UTF-8 and short enough."""
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
            if not positionals or not _put(call, *positionals.pop(0)[:2], word):
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
    """The type of an option. None if the command has no such option."""
    if name in call.entry[6]:
        return call.entry[6][name][1]
    if (name == "--strict" and call.entry[3]) or (name == "--line" and call.command == "brief"):
        return "flag"
    return "text" if name in ("--root", "--format") else None


def _set(call: Arguments, name: str, value: str) -> bool:
    """Set an option. False if it does not accept the value."""
    if name == "--root":
        call.root = value
        return bool(value.strip())
    if name == "--strict":
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
    """Set a field from `text`; a later value replaces an earlier one. False if `text` is not a value of the type."""
    value: object = text
    if kind not in ("flag", "owner") and not text.strip() and field not in MAY_BE_BLANK:
        return False
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
