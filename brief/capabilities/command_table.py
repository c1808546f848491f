"""The fast path's table of commands, generated from the capabilities as the text of `brief/fastpath/command_table.py`."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from brief.capabilities.table import CAPABILITIES
from brief.handlers.shape import Capability, OwnersOwn, Path, Positional, Rendered

_HEAD = '''"""Every command that a server can answer, generated from `brief/capabilities` by `scripts/make-files`.

By its words: method and path below `/api/v1`, kind, whether it has `--strict`, its forms (the first is the default), its
positional fields, and its options. A field is `(name, type)`, an option `(name, type, is_repeatable)`. A type is `text`,
`file`, `int`, `flag`, or the values of a choice. `owner` is a flag that only a person's shell has, and `person` is none: it
is set in every person's shell.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing takes longer than asking the server
    Type = str | tuple[str, ...]
    Entry = tuple[str, str, str, bool, tuple[str, ...], tuple[tuple[str, Type, bool], ...], dict[str, tuple[str, Type, bool]]]

COMMANDS: dict[str, Entry] = {
'''

_BESIDE = ("root", "local", "format")
"""Fields that are no options of a single command: each has the first and the last, and `local` is HTTP's."""


def command_table() -> str:
    """The text of the generated module."""
    return _HEAD + "".join(_entry(one) for one in CAPABILITIES if one.cli) + "}\n"


def _entry(capability: Capability) -> str:
    http, fields = capability.http, capability.input.model_fields
    forms = get_args(fields["format"].annotation) if capability.output is Rendered else ("text", "json")
    words = [(name, field) for name, field in fields.items() if _has(field, Positional)]
    lines = [
        f"    {_quote(' '.join(capability.cli))}: (",
        f"        {_quote(http.method)},",
        f"        {_quote(http.path)},",
        f"        {_quote(capability.kind)},",
        f"        {capability.strict is not None},",
        f"        {_tuple(forms)},",
        f"        {_positionals(words)},",
        "        {",
        *_options(capability),
        "        },",
        "    ),",
    ]
    return "\n".join(lines) + "\n"


def _positionals(words: list[tuple[str, FieldInfo]]) -> str:
    told = [f"({_quote(name)}, {_type(field)}, {field.is_required()})" for name, field in words]
    return f"({', '.join(told)}{',' if len(told) == 1 else ''})"


def _options(capability: Capability) -> Iterator[str]:
    for name, field in capability.input.model_fields.items():
        if name not in _BESIDE and not _has(field, Positional):
            is_many = get_origin(_inner(field.annotation)) is tuple
            flag = name if _type(field) == _quote("person") else "--" + name.replace("_", "-")
            yield f"            {_quote(flag)}: ({_quote(name)}, {_type(field)}, {is_many}),"


def _type(field: FieldInfo) -> str:
    own = next((one for one in field.metadata if isinstance(one, OwnersOwn)), None)
    if own is not None:
        return _quote("person" if own.by_default else "owner")
    kind = _inner(field.annotation)
    if get_origin(kind) is tuple:
        kind = _inner(get_args(kind)[0])
    if kind is bool:
        return _quote("flag")
    if kind is int:
        return _quote("int")
    choices = _choices(kind)
    return _tuple(choices) if choices else _quote("file" if _has(field, Path) else "text")


def _inner(annotation: Any) -> Any:
    """The type behind `X | None`."""
    kinds = get_args(annotation)
    return next(kind for kind in kinds if kind is not type(None)) if type(None) in kinds else annotation


def _choices(kind: Any) -> tuple[str, ...]:
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(member.value for member in kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else ()


def _has(field: FieldInfo, mark: type) -> bool:
    return any(isinstance(one, mark) for one in field.metadata)


def _tuple(texts: tuple[str, ...]) -> str:
    return f"({', '.join(_quote(text) for text in texts)}{',' if len(texts) == 1 else ''})"


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
