"""Sanitize other people's text: one line, bounded, and without anything that controls a terminal.

Branch names, titles and bodies of notices come from anywhere. Removed: escape sequences, control, bidirectional and
zero-width characters, tags, stray joiners. Replaced by U+FFFD: private-use characters and noncharacters, which look
different everywhere. Text that reads as a client's tag or as the tool's own opening words is defused (`fence.py`), since
models read every text that people read. All of this takes linear time, and only the start of a long text is examined.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import timedelta
from functools import cache, lru_cache

from brief.core.text.fence import defuse_text
from brief.fastpath import age
from brief.fastpath.sanitize import STEERING

ELLIPSIS = "…"

_LEAST_SCANNED = 8_192
_SCANNED_A_CHARACTER = 8
_MOST_MARKS = 4

# A terminated string sequence (OSC, DCS, SOS, PM, APC) is removed with its payload. Of an unterminated one only the opener
# is removed, so that a stray byte cannot swallow a title. A payload cannot contain an opener, which keeps this linear.
_ESCAPES = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]"
    r"|\x1b[\x20-\x2f]*[\x30-\x7e]"
)


@cache
def _invisible_pattern() -> re.Pattern[str]:
    """White space among the controls (tab, line ends, FS to US, NEL) is left: it is collapsed into single spaces later."""
    return re.compile(
        "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
        "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
        "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    )


@cache
def _unknown_pattern() -> re.Pattern[str]:
    return re.compile(
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


@cache
def _joined_pattern() -> re.Pattern[str]:
    """Joiners and variation selectors have a meaning inside an emoji; anywhere else they only make two names look alike."""
    return re.compile(f"({_GLYPH}(?:\u200d{_GLYPH})*|[0-9#*]\ufe0f\u20e3)|[\u200d\ufe0e\ufe0f]")


_STEERING = re.compile(f"[{STEERING}\ud800-\udfff]")
_NOT_A_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def clean(text: str, limit: int = 200) -> str:
    """Sanitize `text` into one line of at most `limit` characters, with `…` at the end if it was cut. Idempotent."""
    return _clean_short(text, limit) if len(text) <= _SHORT else _clean(text, limit)


def _clean(text: str, limit: int) -> str:
    if len(text) <= limit and text.isascii() and text.isprintable():
        return defuse_text(" ".join(text.split()))  # most text is like this and has nothing to remove
    return defuse_text(_cut(_one_line(_ESCAPES.sub("", _cut_head(text, limit))), limit))


_SHORT = 120
_clean_short = lru_cache(maxsize=4_096)(_clean)
"""Remembers what short texts become: the same names, branches and titles are in every brief."""


def clean_block(text: str, lines: int, width: int) -> tuple[str, ...]:
    """The first `lines` lines of `text`, each sanitized to `width` characters, without blank lines at either end."""
    head = _ESCAPES.sub("", _cut_head(text, lines * width))
    rows = [defuse_text(_cut(_one_line(row), width)) for row in head.splitlines()]
    first = next((index for index, row in enumerate(rows) if row), len(rows))
    kept = rows[first : first + max(lines, 0)]
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def printable_json(text: str) -> str:
    r"""Write every character of a JSON document that could control a terminal as `\uXXXX`. Its value stays the same."""
    return _STEERING.sub(lambda found: _escape(found.group()), text)


def to_wire(text: str) -> str:
    r"""Make text from `os.fsdecode` encodable: a stray byte becomes `\xNN`, a lone surrogate `\uXXXX`."""
    spelled = _NOT_A_BYTE.sub(lambda found: _escape(found.group()), text)
    return spelled.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def span(delta: timedelta) -> str:
    """A span in one short word, rounded down: `12m`, `3h` from one hour, `2d` from two days; `0m` if negative."""
    return age.span(delta.total_seconds())


def elapsed(delta: timedelta) -> str:
    """An age in one short word, like `span`, but `?` if it lies in the future."""
    return age.elapsed(delta.total_seconds())


def ago(delta: timedelta) -> str:
    """An age as part of a sentence: `just now`, `12m ago`, `an unknown time ago`."""
    return age.ago(delta.total_seconds())


def every(minutes: int) -> str:
    """An interval as part of a sentence: `every minute`, `every 20 minutes`."""
    return "every minute" if minutes == 1 else f"every {minutes} minutes"


def is_ahead(delta: timedelta) -> bool:
    """Whether an age lies in the future by more than clocks normally differ."""
    return age.is_ahead(delta.total_seconds())


def _cut_head(text: str, wanted: int) -> str:
    """The part of `text` that is examined for `wanted` characters. Text after a very long invisible prefix is dropped."""
    scanned = max(_LEAST_SCANNED, wanted * _SCANNED_A_CHARACTER)
    return text if len(text) <= scanned else text[:scanned] + ELLIPSIS


def _one_line(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        text = _unknown_pattern().sub("\ufffd", _invisible_pattern().sub("", text))
        text = _joined_pattern().sub(lambda found: found.group(1) or "", text)
        text = "".join(_few_marks(_SURROGATE.sub(lambda found: _escape(found.group()), text)))
    return " ".join(text.split())


def _few_marks(text: str) -> Iterator[str]:
    """The characters of `text`, with at most `_MOST_MARKS` combining marks per base and none without a base."""
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

    # A grapheme cluster that no longer fits is dropped as a whole.
    return text[: grapheme_boundary_before(text, limit)].rstrip() + ELLIPSIS


def _escape(char: str) -> str:
    r"""A character as JSON escapes it: one or two `\uXXXX`."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
