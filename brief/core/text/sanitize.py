"""Other people's text made fit to be shown: one line, bounded, and nothing in it that could steer a terminal.

Branch names, titles and bodies of notices come from anywhere. What is removed: whole escape sequences, control
characters, bidirectional and zero-width ones, tags, stray joiners. What is replaced by U+FFFD: private use and
noncharacters, whose picture nobody can know. What reads as a tag of a client's, or as the tool's own opening words, is
defused (`fence.py`), since models read every text that people do. All of it is linear, and only the start of a long text is looked at.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import timedelta

from brief.core.text.fence import defused
from brief.fastpath import age
from brief.fastpath.sanitize import STEERING

ELLIPSIS = "…"

_LEAST_SCANNED = 8_192
_SCANNED_A_CHARACTER = 8
_MOST_MARKS = 4

# A string sequence (OSC, DCS, SOS, PM, APC) goes with its payload where it is closed. Unclosed, only its opener goes:
# a stray byte must not swallow the rest of a title. No payload may hold an opener, which keeps the search linear.
_ESCAPES = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]"
    r"|\x1b[\x20-\x2f]*[\x30-\x7e]"
)
# White space among the controls (tab, line ends, FS to US, NEL) is left for the collapse into single spaces.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_UNKNOWN = re.compile(
    "[\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0xF0000, 0x10000))
    + "\U000f0000-\U0010ffff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")

_PICTURE = (
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_GLYPH = f"{_PICTURE}[\U0001f3fb-\U0001f3ff]?[\ufe0e\ufe0f]?"
# Joiners and variation selectors mean something inside an emoji; anywhere else they only make two names look alike.
_JOINED = re.compile(f"({_GLYPH}(?:\u200d{_GLYPH})*|[0-9#*]\ufe0f\u20e3)|[\u200d\ufe0e\ufe0f]")

_STEERING = re.compile(f"[{STEERING}\ud800-\udfff]")
_NOT_A_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def clean(text: str, limit: int = 200) -> str:
    """`text` as one line of at most `limit` characters, `…` at the end where it was cut; idempotent."""
    if len(text) <= limit and text.isascii() and text.isprintable():
        return defused(" ".join(text.split()))  # most text is so, and there is nothing in it to take out
    return defused(_cut(_one_line(_ESCAPES.sub("", _head(text, limit))), limit))


def clean_block(text: str, lines: int, width: int) -> tuple[str, ...]:
    """The first `lines` lines of `text`, each cleaned to `width` characters, without blank lines at either end."""
    head = _ESCAPES.sub("", _head(text, lines * width))
    rows = [defused(_cut(_one_line(row), width)) for row in head.splitlines()]
    first = next((index for index, row in enumerate(rows) if row), len(rows))
    kept = rows[first : first + max(lines, 0)]
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def printable_json(text: str) -> str:
    r"""A JSON document with every character that could steer a terminal spelled `\uXXXX`; its value stays the same."""
    return _STEERING.sub(lambda found: _escaped(found.group()), text)


def wire(text: str) -> str:
    r"""Text of `os.fsdecode` made encodable: a stray byte reads `\xNN`, a lone surrogate `\uXXXX`."""
    spelled = _NOT_A_BYTE.sub(lambda found: _escaped(found.group()), text)
    return spelled.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def span(delta: timedelta) -> str:
    """A span in one short word, rounded down: `12m`, from an hour on `3h`, from two days on `2d`; negative is `0m`."""
    return age.span(delta.total_seconds())


def elapsed(delta: timedelta) -> str:
    """An age in one short word, as `span`, and `?` where what is dated lies ahead of the clock."""
    return age.elapsed(delta.total_seconds())


def ago(delta: timedelta) -> str:
    """How long ago something was, as it stands in a sentence: `just now`, `12m ago`, `an unknown time ago`."""
    return age.ago(delta.total_seconds())


def often(minutes: int) -> str:
    """An interval as it stands in a sentence: `every minute`, `every 20 minutes`."""
    return "every minute" if minutes == 1 else f"every {minutes} minutes"


def is_ahead(delta: timedelta) -> bool:
    """Whether an age is that of something from the future, by more than clocks differ."""
    return age.is_ahead(delta.total_seconds())


def _head(text: str, wanted: int) -> str:
    """As much of `text` as is looked at for `wanted` characters: what a long invisible prefix hides stays hidden."""
    scanned = max(_LEAST_SCANNED, wanted * _SCANNED_A_CHARACTER)
    return text if len(text) <= scanned else text[:scanned] + ELLIPSIS


def _one_line(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        text = _UNKNOWN.sub("\ufffd", _INVISIBLE.sub("", text))
        text = _JOINED.sub(lambda found: found.group(1) or "", text)
        text = "".join(_few_marks(_SURROGATE.sub(lambda found: _escaped(found.group()), text)))
    return " ".join(text.split())


def _few_marks(text: str) -> Iterator[str]:
    """The characters of `text`, with at most `_MOST_MARKS` marks on a base, and none that has no base."""
    room = 0
    for char in text:
        if unicodedata.category(char)[0] != "M":
            room = 0 if char.isspace() else _MOST_MARKS
            yield char
        elif room:
            room -= 1
            yield char


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    if limit < 1:
        return ""
    from wcwidth import grapheme_boundary_before  # noqa: PLC0415 - slow to load, and most texts are not cut

    # The cluster that holds the character which no longer fits is left out whole.
    return text[: grapheme_boundary_before(text, limit)].rstrip() + ELLIPSIS


def _escaped(char: str) -> str:
    r"""`\uXXXX`, or two of them, as JSON spells a character."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
