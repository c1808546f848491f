"""File names made from other people's words: short, plain ASCII, and never a path."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MOST = 60
"""The most characters of a slug."""

_RUN = re.compile(r"[^a-z0-9]+")
_NO_DECOMPOSITION = str.maketrans(
    {"ß": "ss", "æ": "ae", "ø": "o", "œ": "oe", "đ": "d", "ł": "l", "þ": "th", "\u0131": "i"}
)
_SCANNED = 1_000


def make_slug(text: str, most: int = MOST) -> str:
    """The words of `text` in lower-case ASCII, joined by `-`, cut between words if possible. Empty if no word is left."""
    lowered = unicodedata.normalize("NFKD", text[:_SCANNED]).lower().translate(_NO_DECOMPOSITION)
    ascii_only = "".join(char for char in lowered if not unicodedata.combining(char))
    words = _RUN.sub("-", ascii_only).strip("-")
    if len(words) > most:
        whole = words[: most + 1].rpartition("-")[0]
        words = whole or words[:most]
    return words


def digest(*parts: str, characters: int = 8) -> str:
    """The first hexadecimal characters of the SHA-256 of the parts: a short name that is the same on every machine."""
    spelled = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(spelled).hexdigest()[:characters]
