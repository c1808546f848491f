"""Generates `brief/cli/command_words.py`: the command line of every capability."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from brief.capabilities.capability import Capability
from brief.capabilities.python_source import source_of
from brief.capabilities.table import CAPABILITIES
from brief.core.model.answers import Rendered
from brief.core.model.fields import Field, fields_of
from brief.handlers.inputs import OwnersOwn, Positional

_HEAD = '''"""The words of every command that is a capability, generated from `brief/capabilities` by `scripts/make-files`.

A command has an id, words, a title and arguments. An argument is a name or flag, and the options given to argparse.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing takes longer than making the parser
    from typing import Any

    Argument = tuple[str, dict[str, Any]]
    Command = tuple[str, tuple[str, ...], str, tuple[Argument, ...]]

'''

_ROOT: dict[str, Any] = {"metavar": "DIR", "help": "any folder in the checkout to use (default: the current folder)"}
_FORMAT: dict[str, Any] = {"choices": ("text", "json"), "default": "text", "help": "output format (default: text)"}
_LINE: dict[str, Any] = {
    "dest": "format",
    "action": "store_const",
    "const": "line",
    "help": "print only the one-line brief",
}

_SHORT = 24
"""The most characters of choices that the usage line shows; longer lists stand in the option's help instead."""

_METAVARS = {
    "session": "ID",
    "scope": "PATH",
    "budget": "BYTES",
    "width": "COLUMNS",
    "next": "TEXT",
    "reason": "TEXT",
    "ttl": "MINUTES",
    "expires": "WHEN",
    "fires_on": "WHEN",
}


def command_words() -> str:
    """The text of the generated module."""
    shared = f"ROOT: Argument = {_argument('--root', _ROOT)}\nFORMAT: Argument = {_argument('--format', _FORMAT)}\n\n"
    commands = "".join(_command(one) for one in CAPABILITIES if one.cli)
    return f"{_HEAD}{shared}COMMANDS: tuple[Command, ...] = (\n{commands})\n"


def _command(capability: Capability) -> str:
    arguments = "".join(f"            {one},\n" for one in _arguments(capability))
    head = "".join(f"        {source_of(one)},\n" for one in (capability.id, capability.cli, capability.title))
    return f"    (\n{head}        (\n{arguments}        ),\n    ),\n"


def _arguments(capability: Capability) -> Iterator[str]:
    for name, field in fields_of(capability.input).items():
        own = field.find_mark(OwnersOwn)
        if name not in ("root", "local") and not (own and own.by_default):
            yield _field(name, field, is_rendered=capability.output is Rendered)
    yield "ROOT"
    yield _argument("--line", _LINE) if capability.output is Rendered else "FORMAT"
    if capability.strict is not None:
        yield _argument("--strict", {"action": "store_true", "help": capability.strict.help})


def _field(name: str, field: Field, *, is_rendered: bool) -> str:
    if field.has_mark(Positional):
        nargs = {} if field.is_required else {"nargs": "?"}
        return _argument(name, {"metavar": name.upper(), **nargs, "help": field.description})
    flag, kind = "--" + name.replace("_", "-"), field.kind
    if kind is bool:
        return _argument(flag, {"action": "store_true", "default": None, "help": field.description})
    choices = field.choices
    is_short = bool(choices) and len("".join(choices)) <= _SHORT
    listed = f" ({', '.join(choices)})" if choices and not is_short else ""
    arguments: dict[str, Any] = {"help": f"{field.description}{listed}"}
    if field.is_repeatable:
        arguments["action"] = "append"
    if kind is int:
        arguments["type"] = int
    if choices:
        arguments["choices"] = choices
    if not is_short:
        arguments["metavar"] = _METAVARS.get(name, name.upper())
    if is_rendered and name == "format":
        arguments["default"] = "text"
    return _argument(flag, arguments)


def _argument(name: str, arguments: dict[str, Any]) -> str:
    return source_of((name, arguments))
