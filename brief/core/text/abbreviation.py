"""Names that a person abbreviates to their first letters, as git takes commits."""

from __future__ import annotations

from collections.abc import Iterable

from brief.core.model.errors import UsageError
from brief.core.text.sanitize import clean

_MOST_NAMED = 5
"""The most candidates that an error names."""


def whole_name(given: str, names: Iterable[str], least: int, noun: str, *, is_secret: bool = False) -> str:
    """The only one of `names` that begins with `given`; `given` itself if it is one of them, too short, or begins none.

    Raises UsageError, which calls the names by the plural `noun`, if it begins several. It lists them unless they are secret.
    """
    found = sorted({name for name in names if name.startswith(given)})
    if given in found or len(given) < least or not found:
        return given
    if len(found) > 1:
        named = "" if is_secret else ": " + ", ".join(clean(name, 80) for name in found[:_MOST_NAMED])
        more = f" and {len(found) - _MOST_NAMED} more" if named and len(found) > _MOST_NAMED else ""
        raise UsageError(f"{clean(given, 80)} is the beginning of {len(found)} {noun}{named}{more}; give more letters")
    return found[0]
