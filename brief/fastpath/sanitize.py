"""The characters that steer a terminal or show a text as something else, and the text without them.

They are the C0 and C1 controls but for tab and line feed, and of Unicode's format characters those that turn, hide or
annotate (bidirectional marks, embeddings and isolates, zero-width ones, line separators, interlinear annotation, tags).
Every printer takes them out, whoever wrote the text; `core/text/sanitize.py` builds on the same list.
"""

from __future__ import annotations

STEERING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f"
)
"""The characters as they stand between the brackets of a regular expression."""


def without_steering(text: str) -> str:
    """The text without the characters of `STEERING`; what was between them stays."""
    return text.translate(_table())


def _table() -> dict[int, None]:
    found: dict[int, None] = {}
    for at, char in enumerate(STEERING):
        if char == "-":
            found.update(dict.fromkeys(range(ord(STEERING[at - 1]), ord(STEERING[at + 1]))))
        else:
            found[ord(char)] = None
    return found
