"""The size of a text, as those who bound it count."""

from __future__ import annotations


def utf16_units(text: str) -> int:
    """The characters of a text as a client in JavaScript counts them: in UTF-16."""
    return len(text.encode("utf-16-le")) // 2


def size_in_bytes(text: str) -> int:
    """The bytes of a text in UTF-8."""
    return len(text.encode())
