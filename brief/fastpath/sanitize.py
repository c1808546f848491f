"""What no printed text keeps: characters that steer a terminal or hide something, and brackets that open a tag.

They are the C0 and C1 controls but for tab and line feed, and of Unicode's format characters those that turn, hide or
annotate (bidirectional marks, embeddings and isolates, zero-width ones, line separators, interlinear annotation, tags).
Every printer takes them out, whoever wrote the text; `core/text/sanitize.py` builds on the same list.

A tag is known by its shape, whatever its name: `<`, perhaps blanks and a slash, then a word, as in `</system-reminder>` or
`<|im_start|>`; the bracket may be another that looks like it, or be escaped as `&lt;`. Only the bracket is replaced, by
U+2039, which looks like it, so that code can still be read. `core/text/fence.py` calls this for every text of others.
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


LESS = "<\u02c2\u1438\u2329\u276c\u276e\u2770\u27e8\u2991\u29fc\u3008\ufe64\uff1c"
"""What opens a tag, or looks as if it did; `DEFUSED`, which takes its place, is none of them."""

DEFUSED = "\u2039"

_AND = "&\uff06"
_OPENERS = frozenset(LESS + _AND)
_BESIDE_BLANKS = frozenset("/\\|!?.:")
_SIGNS_AS_LETTERS = frozenset("_@$+|!-")
_NEVER_BLANK = frozenset(f"{LESS}{_AND}{DEFUSED}\u203a\u2236\u2026")


def without_tags(text: str) -> str:
    """The text with `<` made harmless wherever it opens a tag; takes linear time, is idempotent, makes no text longer."""
    pieces, last = [], 0
    for at, char in enumerate(text):
        if char not in _OPENERS:
            continue
        end = _entity_end(text, at) if char in _AND else at + 1
        if end and _is_word_next(text, end):
            pieces += [text[last:at], DEFUSED]
            last = end
    return "".join((*pieces, text[last:])) if pieces else text


def _is_word_next(text: str, at: int) -> bool:
    """Whether a word with a letter in it stands at `at`, after blanks, slashes and what cannot be seen."""
    while at < len(text) and _is_blank(text[at]):
        at += 1
    while at < len(text) and (text[at].isdigit() or text[at] in _SIGNS_AS_LETTERS):
        at += 1
    return at < len(text) and text[at].isalpha()


def _is_blank(char: str) -> bool:
    if char.isascii():
        return char <= " " or char == "\x7f" or char in _BESIDE_BLANKS
    return not char.isalnum() and char not in _NEVER_BLANK


def _entity_end(text: str, at: int) -> int:
    """Where an escaped `<` ends that begins at `at`, as in `&lt;`, `&amp;lt;`, `&#60;` and `&#x3c;`; 0 if none does."""
    at += 1
    while text[at : at + 4].lower() == "amp;":
        at += 4
    if text[at : at + 2].lower() == "lt":
        at += 2
    elif text[at : at + 1] == "#":
        base, code = (2, "3c") if text[at + 1 : at + 2].lower() == "x" else (1, "60")
        at += base
        while text[at : at + 1] == "0":
            at += 1
        if text[at : at + 2].lower() != code:
            return 0
        at += 2
    else:
        return 0
    if text[at : at + 1] in (";", "\uff1b"):
        return at + 1
    return 0 if text[at : at + 1].isalnum() else at


def _table() -> dict[int, None]:
    found: dict[int, None] = {}
    for at, char in enumerate(STEERING):
        if char == "-":
            found.update(dict.fromkeys(range(ord(STEERING[at - 1]), ord(STEERING[at + 1]))))
        else:
            found[ord(char)] = None
    return found
