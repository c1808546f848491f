"""Values as the generated modules spell them."""

from __future__ import annotations

import json


def source_of(value: object) -> str:
    """A value as Python source: text in double quotes, tuples and mappings of such values, and types by name."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return f"({', '.join(map(source_of, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{source_of(key)}: {source_of(one)}' for key, one in value.items())}}}"
    return value.__name__ if isinstance(value, type) else repr(value)
