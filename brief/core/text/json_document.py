"""Write a model as a JSON document that steers no terminal."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from brief.core.text.sanitize import printable_json

_PLAIN: Final = bytes(range(0x20, 0x7F))
"""The ASCII characters that control no terminal. They are removed first, so that little of a document is left to search."""


def json_document(model: Struct) -> bytes:
    """The model as JSON in UTF-8. What could control a terminal is written as an escape."""
    content = msgspec.json.encode(model)
    other = content.translate(None, _PLAIN).decode()
    return content if printable_json(other) == other else printable_json(content.decode()).encode()
