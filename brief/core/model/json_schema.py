"""A model as a published JSON Schema of the 2020-12 dialect."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode


class _Untitled(GenerateJsonSchema):
    """The schema without a title for each field: the name of a key is its title."""

    schema_dialect = "https://json-schema.org/draft/2020-12/schema"

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic asks with the field's schema
        """Never, whatever the field."""
        return False


def schema_text(model: type[BaseModel], title: str, mode: JsonSchemaMode) -> str:
    """The schema of what `model` takes (`validation`) or of what it writes (`serialization`), as text."""
    _build(model)
    schema = model.model_json_schema(schema_generator=_Untitled, mode=mode)
    schema = {"$schema": _Untitled.schema_dialect, **schema, "title": title}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _build(model: type[BaseModel]) -> None:
    """Build the model and those of its fields: a default that is a model can only be written once that is built."""
    for field in model.model_fields.values():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            _build(field.annotation)
    model.model_rebuild()
