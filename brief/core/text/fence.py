"""Keep other people's text from closing a block, opening another, or posing as the client or as this tool.

Four things could do that, and each is recognized by its shape. A tag, `</system-reminder>` or `&lt;user>`:
`fastpath/sanitize.py` replaces its bracket. A label in square brackets, `[/alerts]`, `[INST]` or `[Request interrupted by
user]`: its brackets become round. A speaker's name at the start of a line, `Human:`: its colon becomes the similar U+2236.
The words with which our own texts open: they are marked as quoted. Variants in other brackets, slashes, letters and
spacing are recognized too, and a person can still read what was written. `clean` and `clean_block` in `sanitize.py` call
this, so that no text from others reaches a model without it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

from brief.fastpath.sanitize import LESS, without_tags

_OUR_TAGS = ("alerts", "brief")

_SPEAKERS = ("human", "user", "assistant", "system", "developer", "tool", "claude", "ai")
"""The names of speakers in a transcript that a model reads."""

OPENINGS = {
    "Majordomus, not the user": "Majordomus (quoted)",
    "Read this before acting: respect locks": "Read this (quoted)",
    "What follows was read from files": "What follows (quoted)",
    "What this session waits for is done": "What waits (quoted)",
    "Report in two to four lines": "Report (quoted)",
    "Keep briefed: while idle": "Keep (quoted)",
}
"""The sentences that open or end our own texts, each with its replacement in other people's text."""

# Square brackets and their twins: fullwidth, with a quill, white, tortoise shell, lenticular, ornamental, small.
_OPEN = "[\uff3b\u2045\u27e6\u301a\u3010\u3014\u2772\u298b\u2997\ufe5d"
_CLOSE = "]\uff3d\u2046\u27e7\u301b\u3011\u3015\u2773\u298c\u2998\ufe5e"
_MORE = ">\uff1e\u203a\u3009\u27e9\ufe65"
_COLONS = ":\u0589\u05c3\ua789\ufe13\ufe55\uff1a"
_DEFUSED_COLON = "\u2236"
_SLASH = "/\uff0f\u2215\u2044\u29f8\u2571"
_BACKSLASH = "\\\uff3c\u2216"
_STARTS = re.compile(f"[{re.escape(_OPEN)}]")
_BLANK = re.compile(r"[\W_]*+")
_COLON = re.compile(rf"[^\w{_COLONS}]{{0,8}}([{_COLONS}])")

# One letter stands for all its look-alikes. Signs become capitals because, unlike digits, they do not continue a word.
_FIGURES = {"4": "a", "8": "b", "6": "b", "3": "e", "l": "i", "1": "i", "5": "s", "7": "t", "0": "o"}
_SIGNS = {"@": "A", "|": "I", "!": "I", "$": "S", "+": "T"}
_LOOK_ALIKE = {
    **dict(zip("авсеһіјкмнорԛѕтухѵԝцгвꙇ", "abcehijkmhopqstyxvwurbi", strict=True)),
    **dict(zip("αβεγηικμνορστυχω", "abeynikmnopatuxw", strict=True)),
    **dict(zip("աոսօեցհյզ", "wnuoeghiq", strict=True)),
}
"""Letters of Cyrillic, Greek and Armenian that look like Latin ones. `*` stands for a letter that resembles none."""
_SEPARATORS = "-_:.\u00b7\u2800"
_OTHER = "*"
_HARD = ","
_LEAST_OPENING = 20
_LONGEST_SPEAKER = 60
_LONGEST_LABEL = 120


def defuse_text(text: str) -> str:
    """Defuse whatever reads as a tag, a label, a speaker or our opening words. Idempotent; never makes a text longer."""
    return _defuse_slowly(text) if not text.isascii() or _is_suspect(text) else text


def _is_suspect(text: str) -> bool:
    """Whether ASCII text must be examined more closely."""
    if "<" in text or "[" in text or "&" in text or "\n" in text or (":" in text and _ascii_speaker().match(text)):
        return True
    return len(text) >= _LEAST_OPENING and _ascii_opening().search(text) is not None


@lru_cache(maxsize=2_048)
def _defuse_slowly(text: str) -> str:
    """Cached, since the same titles occur in every brief. It repeats until one change no longer exposes another match."""
    before = ""
    while text != before:
        before = text
        lines = without_tags(_without_openings(text)).split("\n")
        text = "\n".join(_without_speaker(_without_labels(line)) for line in lines)
    return text


def _without_labels(line: str) -> str:
    if not _STARTS.search(line):
        return line
    letters, places = _reduce(line)
    capitals = {one.start() for one in _capitals_pattern().finditer(line)}
    looks, changed = list(letters), list(line)
    # From the end, so that a label that contains another is matched after the inner one is defused.
    for at in reversed([at for at, look in enumerate(letters) if look == "["]):
        found = _label_pattern().match("".join(looks[at : at + _LONGEST_LABEL]))
        if places[at] not in capitals and (found is None or _is_mostly_other(found.group())):
            continue
        end = next(
            (place for place in range(at + 1, min(at + _LONGEST_LABEL, len(looks))) if looks[place] in "[<>"), at
        )
        looks[at], changed[places[at]] = _HARD, "("
        if looks[end] == ">":
            looks[end], changed[places[end]] = _HARD, ")"
    return "".join(changed)


def _without_speaker(line: str) -> str:
    blank = _BLANK.match(line)
    start = max(0, blank.end() - 1) if blank else 0  # one sign may stand for the first letter
    letters, places = _reduce(line[start : start + _LONGEST_SPEAKER])
    found = _speaker_pattern().match(letters)
    if found is None or _is_mostly_other(found[1]):
        return line
    colon = _COLON.match(line, start + places[found.end() - 1] + 1)
    return line if colon is None else f"{line[: colon.start(1)]}{_DEFUSED_COLON}{line[colon.end(1) :]}"


def _without_openings(text: str) -> str:
    if len(text) < _LEAST_OPENING:
        return text
    letters, places = _reduce(text)
    pieces, last = [], 0
    for found in _opening_pattern().finditer(letters):
        if _is_mostly_other(found.group()):
            continue
        pieces += [text[last : places[found.start()]], tuple(OPENINGS.values())[(found.lastindex or 1) - 1]]
        last = places[found.end() - 1] + 1
    return "".join((*pieces, text[last:])) if pieces else text


def _is_mostly_other(found: str) -> bool:
    """Whether at least half the letters of a match resemble no Latin letter, so that it is a word in another script."""
    others = found.count(_OTHER)
    return others > 0 and others >= sum(map(str.isalpha, found))


def _reduce(text: str) -> tuple[str, list[int]]:
    """What the text looks like, reduced to lower-case Latin letters, brackets, slashes and blanks, with each one's place.

    Marks and characters without width are dropped. A run of white space and separators is one blank. A letter that
    resembles no Latin one is `*`, and everything else is `,`.
    """
    letters: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        for one in _shape_of(char):
            if one != " " or letters[-1:] != [" "]:
                letters.append(one)
                places.append(at)
    return "".join(letters), places


@lru_cache(maxsize=4_096)
def _shape_of(char: str) -> str:
    """What a character looks like in a skeleton: the letters of a ligature, nothing for an invisible character."""
    for kinds, look in ((_OPEN, "["), (LESS, "<"), (_CLOSE + _MORE, ">"), (_SLASH, "/"), (_BACKSLASH, "\\")):
        if char in kinds:
            return look
    return "".join(map(_shape_of_one, unicodedata.normalize("NFKD", char)))


def _shape_of_one(char: str) -> str:
    category = unicodedata.category(char)
    if char.isspace() or char in _SEPARATORS or category == "Pd":
        return " "
    if category[0] == "M" or category in ("Cf", "Cc", "Cs") or "FILLER" in unicodedata.name(char, ""):
        return ""
    if char in _SIGNS:
        return _SIGNS[char]
    small = _latin_letter(char) or char.casefold()
    small = _LOOK_ALIKE.get(small, small)
    small = _FIGURES.get(small, small)
    if small.isascii() and small.isalnum():
        return small
    return _OTHER if category[0] == "L" else _HARD


def _latin_letter(char: str) -> str | None:
    """The letter at the end of a character's name, for small capitals, turned and enclosed letters. Otherwise None."""
    if char.isascii():
        return None
    words = unicodedata.name(char, "").split()
    is_latin = "LETTER" in words and ("LATIN" in words or "REGIONAL" in words)
    return words[-1].lower() if is_latin and len(words[-1]) == 1 else None


def _word_pattern(word: str, between: str) -> str:
    """A pattern for a word in a skeleton, with optional blanks between its letters and `between` between its words."""
    letters = [[f"[{one}{one.upper()}{_OTHER}]" for one in _fold(part)] for part in re.split(r"\W+", word)]
    return between.join(" ?".join(part) for part in letters)


def _fold(word: str) -> str:
    return "".join(_FIGURES.get(char, char) for char in word.lower())


def _any_of(words: Iterable[str]) -> str:
    return "|".join(_word_pattern(word, " ?") for word in sorted(words, key=len, reverse=True))


@cache
def _label_pattern() -> re.Pattern[str]:
    """Compiled only once a text has a square bracket, which most runs never see."""
    word = "(?![a-z0-9*])"
    return re.compile(
        rf"\[ ?(?:/|[ /\\]*(?:{_any_of(_OUR_TAGS)}){word}|[^\[<>]{{0,80}}?(?<![a-z0-9*])(?:{_any_of(_SPEAKERS)}){word})"
    )


@cache
def _speaker_pattern() -> re.Pattern[str]:
    return re.compile(rf"[^a-z0-9*]*?({_any_of(_SPEAKERS)})(?![a-z0-9*])")


@cache
def _opening_pattern() -> re.Pattern[str]:
    return re.compile("|".join(f"({_word_pattern(words, '[ ,]*')})" for words in OPENINGS))


@cache
def _capitals_pattern() -> re.Pattern[str]:
    """A name in capitals only, as in the chat templates of models: `[INST]`, `[TOOL_CALLS]`."""
    return re.compile(rf"[{re.escape(_OPEN)}]\s*+[A-Z\uff21-\uff3a][A-Z_ \uff21-\uff3a\uff3f]++[{re.escape(_CLOSE)}]")


_GAP = r"[^a-zA-Z0-9@|!$+]*+"
_ASCII_LOOKS = {"a": "aA4@", "b": "bB8", "e": "eE3", "i": "iI1l|!", "l": "lLI1|!", "s": "sS5$", "t": "tT7+", "o": "oO0"}


def _ascii_pattern(word: str) -> str:
    """A pattern for an ASCII word, with anything but letters between its letters."""
    return _GAP.join(f"[{re.escape(_ASCII_LOOKS.get(letter, letter + letter.upper()))}]" for letter in word)


@cache
def _ascii_opening() -> re.Pattern[str]:
    """A cheap filter for ASCII text: one search for a few characters, since it runs on every text."""
    return re.compile(
        rf"[mMrRwWkK](?:(?<=[mM]){_GAP}{_ascii_pattern('aj')}|(?<=[kK]){_GAP}{_ascii_pattern('eepb')}"
        rf"|(?<=[rR]){_GAP}{_ascii_pattern('e')}{_GAP}(?:{_ascii_pattern('adt')}|{_ascii_pattern('porti')})"
        rf"|(?<=[wW]){_GAP}{_ascii_pattern('hat')}{_GAP}(?:[fF]|{_ascii_pattern('thi')}))"
    )


@cache
def _ascii_speaker() -> re.Pattern[str]:
    return re.compile(rf"[^a-zA-Z0-9]*?(?:{'|'.join(map(_ascii_pattern, _SPEAKERS))})")
