"""A model as a document: whatever its texts hold, no terminal is steered, and the value is the same."""

from __future__ import annotations

import json

import pytest

from brief.core.model.answers import Problem
from brief.core.text.json_document import json_document


@pytest.mark.parametrize(
    "text", ["plain", "žluť ▲ …", "\x7f", "a\x1b[31m", "\x9b31m", "\u202egnp", "\u2028", "tab\tand\nline"]
)
def test_the_value_is_kept_and_nothing_steers(text: str) -> None:
    """A document reads back as it was, and is printable but for the letters that it holds."""
    document = json_document(Problem(error=text, kind="Kind", exit_code=1)).decode()
    assert json.loads(document) == {"error": text, "kind": "Kind", "exit_code": 1}
    assert not any(char in document for char in "\x1b\x7f\x9b\u202e\n\t")
