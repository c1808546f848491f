"""Read and write JSON with the C code behind the package `json`, falling back to the package itself.

The package imports `re`, `enum` and `collections`, which takes 7 ms; a bare interpreter starts and ends in 11 ms. Its C
code is not a public interface, so nothing here depends on it: the package handles whatever the C code rejects.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # see ask.py
    from typing import Any


class _Terms:
    """The attributes that the C scanner reads, with the package's default values."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    """Parses the names `NaN`, `Infinity` and `-Infinity`."""


def read_json(text: str | bytes) -> Any:
    """Parse a JSON text. Raises ValueError if it is not JSON, RecursionError if it is nested too deeply."""
    try:
        return _scan(text if isinstance(text, str) else text.decode())
    except Exception:  # noqa: BLE001 - the package reports the fault, be it in the text or in the scanner
        from json import loads  # noqa: PLC0415 - see above

        return loads(text)


def _scan(text: str) -> object:
    from _json import make_scanner  # noqa: PLC0415 - if it is missing, the package reads

    bare = text.strip(" \t\r\n")
    value, end = make_scanner(_Terms)(bare, 0)  # type: ignore[arg-type] # any object with these attributes is taken
    if end != len(bare):
        raise ValueError("something follows the value")
    return value


def write_json(value: object) -> str:
    """The JSON text of a value, exactly as the package writes it. Raises TypeError if JSON cannot represent it."""
    if type(value) is int:
        return str(value)
    try:
        from _json import encode_basestring_ascii as quoted  # noqa: PLC0415 - if it is missing, the package writes
    except ImportError:
        return _dump(value)
    if type(value) is str:
        return quoted(value)
    if type(value) is dict and all(type(name) is str for name in value):
        return "{" + ", ".join(f"{quoted(name)}: {write_json(each)}" for name, each in value.items()) + "}"
    return _dump(value)


def _dump(value: object) -> str:
    from json import dumps  # noqa: PLC0415 - see above

    return dumps(value)
