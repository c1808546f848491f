"""The generated files of the checkout: `scripts/make-files` writes them, and a test fails if one is out of date."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from brief.capabilities.command_table import command_table
from brief.capabilities.command_words import command_words
from brief.core.model.brief import SCHEMA, Brief
from brief.core.model.json_schema import schema_text
from brief.core.policy.policy_files import allow_list, schema_json, skeleton


def brief_schema() -> str:
    """Return the JSON Schema of a brief as this version writes it."""
    return schema_text(Brief, SCHEMA, "output")


FILES: Mapping[str, Callable[[], str]] = {
    "brief/cli/command_words.py": command_words,
    "brief/fastpath/command_table.py": command_table,
    "brief/schema/brief-v1.json": brief_schema,
    "policy/schema.json": schema_json,
    "policy/skeleton.yaml": skeleton,
    "policy/allow.txt": allow_list,
}
"""The path of each file in the checkout, and the function that generates its text."""
