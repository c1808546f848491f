"""Remove from printed text the characters that control a terminal or hide something, and the brackets that open a tag.

The characters are the C0 and C1 controls except tab and line feed, and the format characters of Unicode that turn, hide or
annotate text (bidirectional marks, embeddings and isolates, zero-width characters, line separators, interlinear
annotation, tags). Every printer removes them, whoever wrote the text. `core/text/sanitize.py` uses the same list for JSON
documents; its `clean` has a longer list of its own.

A tag is recognized by its shape, not its name: `<`, perhaps blanks and a slash, then a word, as in `</system-reminder>` or
`<|im_start|>`. The bracket may also be a look-alike, or escaped as `&lt;`. Only the bracket is replaced, by the similar
U+2039, so code stays readable. `core/text/fence.py` applies this to all text from others.
"""

from __future__ import annotations

STEERING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f"
)
"""The characters, in the form of a regular expression's character class."""


def without_steering(text: str) -> str:
    """Remove the characters of `STEERING`. The text between them stays."""
    return text.translate(_table())


LESS = "<\u02c2\u1438\u2329\u276c\u276e\u2770\u27e8\u2991\u29fc\u3008\ufe64\uff1c"
"""The characters that open a tag or look as if they did. `DEFUSED`, which replaces them, is not among them."""

DEFUSED = "\u2039"

_AND = "&\uff06"
_OPENERS = frozenset(LESS + _AND)
_BESIDE_BLANKS = frozenset("/\\|!?.:")
_SIGNS_AS_LETTERS = frozenset("_@$+|!-")
_NEVER_BLANK = frozenset(f"{LESS}{_AND}{DEFUSED}\u203a\u2236\u2026")


def without_tags(text: str) -> str:
    """Replace `<` wherever it opens a tag. Linear in time, idempotent, and never makes a text longer."""
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
    """Whether a word that contains a letter follows at `at`, after blanks, slashes and invisible characters."""
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
    """The end of an escaped `<` that begins at `at`, as in `&lt;`, `&amp;lt;`, `&#60;` and `&#x3c;`. 0 if there is none."""
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
