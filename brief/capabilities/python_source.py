"""Writes values as Python source for the generated modules."""

from __future__ import annotations

import json


def source_of(value: object) -> str:
    """Return a value as Python source: text in double quotes, types by name, and tuples and mappings of these."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return f"({', '.join(map(source_of, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{source_of(key)}: {source_of(one)}' for key, one in value.items())}}}"
    return value.__name__ if isinstance(value, type) else repr(value)
