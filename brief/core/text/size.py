"""Measure a text in the units of those who limit it."""

from __future__ import annotations


def utf16_units(text: str) -> int:
    """The characters of a text in UTF-16 code units, as a JavaScript client counts them."""
    return len(text.encode("utf-16-le")) // 2


def size_in_bytes(text: str) -> int:
    """The bytes of a text in UTF-8."""
    return len(text.encode())
