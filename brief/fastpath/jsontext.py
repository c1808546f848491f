"""JSON read and written by the C code that the package `json` rests on, and by the package where that is not enough.

The package imports `re`, and with it `enum` and `collections`: 7 ms, where a bare interpreter starts and ends in 11.
Its C code is no public interface. So nothing here depends on it: what it does not take, the package judges.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from typing import Any


class _Terms:
    """What the C scanner asks for: JSON as the package reads it unless told otherwise."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    """Of the names `NaN`, `Infinity` and `-Infinity`."""


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text; raises ValueError where it is none, RecursionError where it is too deep."""
    try:
        return _scanned(text if isinstance(text, str) else text.decode())
    except Exception:  # noqa: BLE001 - whatever is wrong, with the text or with the scanner, the package says it
        from json import loads  # noqa: PLC0415 - see above

        return loads(text)


def _scanned(text: str) -> object:
    from _json import make_scanner  # noqa: PLC0415 - where there is none, the package reads

    bare = text.strip(" \t\r\n")
    value, end = make_scanner(_Terms)(bare, 0)  # type: ignore[arg-type] # any object with these attributes is taken
    if end != len(bare):
        raise ValueError("something follows the value")
    return value


def write_json(value: object) -> str:
    """The JSON text of a value, letter for letter as the package writes it; raises TypeError where it has none."""
    if type(value) is int:
        return str(value)
    try:
        from _json import encode_basestring_ascii as quoted  # noqa: PLC0415 - where there is none, the package writes
    except ImportError:
        return _dumped(value)
    if type(value) is str:
        return quoted(value)
    if type(value) is dict and all(type(name) is str for name in value):
        return "{" + ", ".join(f"{quoted(name)}: {write_json(each)}" for name, each in value.items()) + "}"
    return _dumped(value)


def _dumped(value: object) -> str:
    from json import dumps  # noqa: PLC0415 - see above

    return dumps(value)
