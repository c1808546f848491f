"""Render models as published JSON Schema (dialect 2020-12)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from brief.core.model.brief import HONESTY, SECTIONS

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Mode = Literal["input", "output"]
"""Whether a schema describes what may be sent, where defaults may be left out, or what is answered, where all is there."""


def schema_text(model: type[Struct], title: str, mode: Mode) -> str:
    """The schema of a model, as text."""
    (schema,), shared = schemas([model], mode, "#/$defs/{name}")
    name = schema["$ref"].rpartition("/")[2]
    top = shared.pop(name)
    document = {"$schema": DIALECT, "$defs": shared, **top, "title": title}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def schemas(
    models: Iterable[type[Struct]], mode: Mode, reference: str
) -> tuple[tuple[dict[str, Any], ...], dict[str, dict[str, Any]]]:
    """The schema of each model, and by name those that they refer to. `reference` holds `{name}`."""
    found, shared = msgspec.json.schema_components(tuple(models), ref_template=reference)
    for schema in shared.values():
        _describe(schema, mode)
    for section in SECTIONS.values():
        if section.__name__ in shared:
            shared[section.__name__] |= HONESTY
    return found, shared


def inlined(schema: Any, shared: Mapping[str, Any]) -> Any:
    """The schema with each reference replaced by what it refers to."""
    if isinstance(schema, list):
        return [inlined(one, shared) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        beside = {name: value for name, value in schema.items() if name != "$ref"}
        target = {name: value for name, value in shared[schema["$ref"].rpartition("/")[2]].items() if name != "title"}
        return inlined(target, shared) | beside
    return {name: inlined(value, shared) for name, value in schema.items()}


def _describe(schema: dict[str, Any], mode: Mode) -> None:
    """Describe an optional field as a whole, and require every field of what is answered."""
    fields = schema.get("properties", {})
    for field in fields.values():
        said = [
            kind.pop("description") for kind in field.get("anyOf", ()) if "$ref" not in kind and "description" in kind
        ]
        if said:
            field["description"] = said[0]
    if mode == "output":
        schema["required"] = list(fields)
    if not schema.get("required"):
        schema.pop("required", None)
