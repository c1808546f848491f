"""Render a model as a published JSON Schema (dialect 2020-12)."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode


class _Untitled(GenerateJsonSchema):
    """A schema generator that gives fields no title, because the key is title enough."""

    schema_dialect = "https://json-schema.org/draft/2020-12/schema"

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic passes the field's schema
        """Never."""
        return False


def schema_text(model: type[BaseModel], title: str, mode: JsonSchemaMode) -> str:
    """The schema text of the input (`validation`) or output (`serialization`) of `model`."""
    _build(model)
    schema = model.model_json_schema(schema_generator=_Untitled, mode=mode)
    schema = {"$schema": _Untitled.schema_dialect, **schema, "title": title}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _build(model: type[BaseModel]) -> None:
    """Build the model and the models of its fields: a default that is a model can only be serialized once built."""
    for field in model.model_fields.values():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            _build(field.annotation)
    model.model_rebuild()
