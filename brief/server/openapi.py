"""The OpenAPI document, made from the table of capabilities and their models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from brief import __version__
from brief.capabilities.capability import Capability
from brief.core.model.answers import Problem, Rendered
from brief.core.model.json_schema import Mode, inlined, schemas

References = Mapping[type[Struct], dict[str, Any]]

_REFERENCE = "#/components/schemas/{name}"
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
    answered, answers = _make_references((*outputs, Problem), "output")
    sent, bodies = _make_references([one.input for one in capabilities if one.http.method == "POST"], "input")
    paths: dict[str, dict[str, Any]] = {}
    for one in capabilities:
        paths.setdefault(prefix + one.http.path, {})[one.http.method.lower()] = _describe_operation(one, answered, sent)
    return {
        "openapi": "3.1.0",
        "info": {"title": "majordomus brief", "version": __version__},
        "paths": paths,
        "components": {"schemas": answers | bodies},
    }


def _describe_operation(capability: Capability, answered: References, sent: References) -> dict[str, Any]:
    problem = {"application/json": {"schema": answered[Problem]}}
    shape = capability.document or capability.output
    content: dict[str, Any] = {"text/plain": {"schema": {"type": "string"}}}
    if shape is not Rendered:
        content["application/json"] = {"schema": answered[shape]}
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
        operation["parameters"] += _describe_parameters(capability.input)
    else:
        body = {"application/json": {"schema": sent[capability.input]}}
        operation["requestBody"] = {"required": True, "content": body}
    return operation


def _make_references(models: Sequence[type[Struct]], mode: Mode) -> tuple[References, dict[str, Any]]:
    """The reference to each model, and the schemas that these refer to."""
    kinds = tuple(dict.fromkeys(models))
    references, shared = schemas(kinds, mode, _REFERENCE)
    return dict(zip(kinds, references, strict=True)), shared


def _describe_parameters(model: type[Struct]) -> list[dict[str, Any]]:
    (reference,), shared = schemas([model], "input", _REFERENCE)
    document = inlined(reference, shared)
    required = document.get("required", ())
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": schema.pop("description", ""),
            "schema": schema,
        }
        for name, schema in document["properties"].items()
    ]
