"""The OpenAPI document, made from the table of capabilities and their models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from brief import __version__
from brief.capabilities.capability import Capability
from brief.core.model.answers import Problem, Rendered

Keyed = tuple[Any, JsonSchemaMode]
References = Mapping[Keyed, dict[str, Any]]

_REFERENCE = "#/components/schemas/{model}"
_FORM = (
    {
        "name": "format",
        "in": "query",
        "required": False,
        "description": "format of the answer: json, or text for a person",
        "schema": {"enum": ["json", "text"], "default": "json", "type": "string"},
    },
    {
        "name": "width",
        "in": "query",
        "required": False,
        "description": "wrap text between words at this many columns",
        "schema": {"type": "integer", "minimum": 0, "maximum": 10_000},
    },
)


def openapi(capabilities: Sequence[Capability], prefix: str) -> dict[str, Any]:
    """The document for routes below `prefix`."""
    outputs = [one.document or one.output for one in capabilities if one.document or one.output is not Rendered]
    bodies = [one.input for one in capabilities if one.http.method == "POST"]
    models: list[Keyed] = [(model, "serialization") for model in dict.fromkeys((*outputs, Problem))]
    models += [(model, "validation") for model in dict.fromkeys(bodies)]
    references, definitions = models_json_schema(models, ref_template=_REFERENCE)
    paths: dict[str, dict[str, Any]] = {}
    for one in capabilities:
        paths.setdefault(prefix + one.http.path, {})[one.http.method.lower()] = _operation(one, references)
    return {
        "openapi": "3.1.0",
        "info": {"title": "majordomus brief", "version": __version__},
        "paths": paths,
        "components": {"schemas": definitions.get("$defs", {})},
    }


def _operation(capability: Capability, references: References) -> dict[str, Any]:
    problem = {"application/json": {"schema": references[Problem, "serialization"]}}
    shape = capability.document or capability.output
    content: dict[str, Any] = {"text/plain": {"schema": {"type": "string"}}}
    if shape is not Rendered:
        content["application/json"] = {"schema": references[shape, "serialization"]}
    operation: dict[str, Any] = {
        "operationId": capability.id,
        "summary": capability.title,
        "parameters": [] if capability.output is Rendered else list(_FORM),
        "responses": {
            "200": {"description": "The answer", "content": content},
            "400": {"description": "The request is invalid; the error says why", "content": problem},
            "default": {"description": "The request failed; the error says why", "content": problem},
        },
    }
    if capability.http.method == "GET":
        operation["parameters"] += _parameters(capability.input)
    else:
        body = {"application/json": {"schema": references[capability.input, "validation"]}}
        operation["requestBody"] = {"required": True, "content": body}
    return operation


def _parameters(model: type[BaseModel]) -> list[dict[str, Any]]:
    document = model.model_json_schema()
    shared = document.get("$defs", {})
    required = document.get("required", [])
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": schema.pop("description", ""),
            "schema": _inlined(schema, shared),
        }
        for name, schema in document["properties"].items()
    ]


def _inlined(schema: Any, shared: dict[str, Any]) -> Any:
    """The schema with each reference to a shared one replaced by that."""
    if isinstance(schema, list):
        return [_inlined(one, shared) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(shared[schema["$ref"].rpartition("/")[2]], shared)
    return {name: _inlined(value, shared) for name, value in schema.items()}
