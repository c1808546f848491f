"""The files of the folder `policy/`, generated from the settings: schema, skeleton, list of keys."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from msgspec import Struct

from brief.core.model.fields import fields_of
from brief.core.model.json_schema import schema_text
from brief.core.policy.settings import Settings, expects, keys, section_model

_WIDTH = 100
_HEAD = (
    "The policy of this repository, for every session of a coding agent in it.",
    "Each key below has its default value, so removing one changes nothing.",
    "To find unknown keys and unusable values, run majordomus policy check.",
)


def schema_json() -> str:
    """The JSON Schema (2020-12) of the policy, as text."""
    return schema_text(Settings, "The policy of a repository", "input")


def skeleton() -> str:
    """A policy with every key at its default, each below its description. It loads as the defaults."""
    head = [f"# {line}" for line in _HEAD]
    return "\n".join([*head, "", *_lines(Settings, "")]) + "\n"


def allow_list() -> str:
    """Every dotted key, sorted, one per line."""
    return "".join(f"{key}\n" for key in sorted(keys()))


def _lines(model: type[Struct], prefix: str) -> Iterator[str]:
    indent = "  " * prefix.count(".")
    for name, field in fields_of(model).items():
        inner = section_model(field)
        if inner is not None:
            yield from ("", f"{indent}# {field.description}", f"{indent}{name}:")
            yield from _lines(inner, f"{prefix}{name}.")
            continue
        comment = f"{field.description} Write {expects(prefix + name)}."
        yield from textwrap.wrap(comment, _WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")
        yield f"{indent}{name}: {_scalar(field.default)}"


def _scalar(value: object) -> str:
    return value if isinstance(value, str) and value.isidentifier() else json.dumps(value)
