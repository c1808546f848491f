"""Generates `brief/fastpath/command_table.py`, the fast path's table of commands."""

from __future__ import annotations

from collections.abc import Iterator

from brief.capabilities.capability import Capability
from brief.capabilities.python_source import source_of
from brief.capabilities.table import CAPABILITIES
from brief.core.model.answers import Rendered
from brief.core.model.fields import Field, fields_of
from brief.handlers.inputs import OwnersOwn, Path, Positional

_HEAD = '''"""Every command that a server can answer. Generated from `brief/capabilities` by `scripts/make-files`.

The key is the words of the command. The value is: method, path below `/api/v1`, kind, whether it has `--strict`, formats
(the first is the default), positional fields, and options. A positional is `(field, type, is_required)`, an option
`(field, type, is_repeatable)`. A type is `text`, `file`, `int`, `flag`, or the values of a choice. `owner` is a flag that
only a person's shell has. `person` is not an option: it is set in every person's shell.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing takes longer than asking the server
    Type = str | tuple[str, ...]
    Entry = tuple[str, str, str, bool, tuple[str, ...], tuple[tuple[str, Type, bool], ...], dict[str, tuple[str, Type, bool]]]

COMMANDS: dict[str, Entry] = {
'''

_BESIDE = ("root", "local", "format")
"""Fields that are not listed as a command's own options: every command has the first and the last; `local` is HTTP's."""


def command_table() -> str:
    """The text of the generated module."""
    return _HEAD + "".join(_entry(one) for one in CAPABILITIES if one.cli) + "}\n"


def _entry(capability: Capability) -> str:
    http, fields = capability.http, fields_of(capability.input)
    forms = fields["format"].choices if capability.output is Rendered else ("text", "json")
    words = [(name, field) for name, field in fields.items() if field.has_mark(Positional)]
    lines = [
        f"    {source_of(' '.join(capability.cli))}: (",
        f"        {source_of(http.method)},",
        f"        {source_of(http.path)},",
        f"        {source_of(capability.kind)},",
        f"        {capability.strict is not None},",
        f"        {source_of(forms)},",
        f"        {_positionals(words)},",
        "        {",
        *_options(capability),
        "        },",
        "    ),",
    ]
    return "\n".join(lines) + "\n"


def _positionals(words: list[tuple[str, Field]]) -> str:
    return source_of(tuple((name, _type(field), field.is_required) for name, field in words))


def _options(capability: Capability) -> Iterator[str]:
    for name, field in fields_of(capability.input).items():
        if name not in _BESIDE and not field.has_mark(Positional):
            kind = _type(field)
            flag = name if kind == "person" else "--" + name.replace("_", "-")
            yield f"            {source_of(flag)}: {source_of((name, kind, field.is_repeatable))},"


def _type(field: Field) -> str | tuple[str, ...]:
    own = field.find_mark(OwnersOwn)
    if own is not None:
        return "person" if own.by_default else "owner"
    kind = field.kind
    if kind in (bool, int):
        return "flag" if kind is bool else "int"
    return field.choices or ("file" if field.has_mark(Path) else "text")
