"""The files made from the settings."""

from __future__ import annotations

import json

from brief.core.model.wire import from_plain
from brief.core.policy.policy_files import allow_list, schema_json, skeleton
from brief.core.policy.settings import Settings, keys, sections
from brief.core.policy.validate import validate
from brief.core.yaml.reader import load


def test_the_skeleton_is_the_defaults() -> None:
    """The skeleton, as it is, has no fault, sets every key and changes nothing."""
    validated = validate(load(skeleton()))
    assert validated.faults == ()
    assert validated.declared == frozenset(keys())
    assert from_plain(Settings, validated.document) == Settings()


def test_the_schema_describes_every_key() -> None:
    """The schema is of the 2020-12 dialect, closed, and carries each key's sentence."""
    schema = json.loads(schema_json())
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    parts = [schema, *schema["$defs"].values()]
    assert all(part["additionalProperties"] is False for part in parts)
    described = {text for part in parts for text in [prop.get("description") for prop in part["properties"].values()]}
    assert {field.description for field in keys().values()} <= described


def test_the_allow_list_is_every_key_sorted() -> None:
    """One dotted key a line, in order, sections left out."""
    lines = allow_list().splitlines()
    assert lines == sorted(keys())
    assert not sections() & set(lines)
