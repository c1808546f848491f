"""Keep other people's text from closing a block, opening another, or speaking as the client or as this tool.

Two things do that. A tag: `[/alerts]`, `</system-reminder>`, `< User >`, and all that reads as one, in other brackets,
slashes, letters or spacing. And the words with which our own texts open. The brackets of a tag become round ones, and
opening words are marked as quoted, so that a person can still read what was written. `clean` and `clean_block` in
`sanitize.py` call this for every text, so that no text of others reaches a model without it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

_OUR_TAGS = ("alerts", "brief")
_CLIENT_TAGS = (
    *("system", "system-reminder", "task-notification", "user", "assistant", "human", "user-prompt-submit-hook"),
    *("command-name", "command-message", "command-args", "command-contents", "local-command-stdout"),
    *("local-command-stderr", "local-command-caveat", "bash-input", "bash-stdout", "bash-stderr"),
    *("tool-use", "tool-result", "tool-use-error", "function-calls", "function-results", "invoke", "parameter"),
    *("antml", "thinking", "persisted-output", "cross-session-message", "teammate-message", "channel"),
)
"""The names of the tags in which Claude Code and its model speak; `antml` is the prefix of a family."""

OPENINGS = {
    "Majordomus, not the user": "Majordomus (quoted)",
    "Read this before acting: respect locks": "Read this (quoted)",
    "What follows was read from files": "What follows (quoted)",
}
"""How the prompt of a wake, the block of alerts and the brief open, each with what others' text says in its place."""

# Square brackets and their twins: fullwidth, with a quill, white, tortoise shell, lenticular, ornamental, small.
_OPEN = "[\uff3b\u2045\u27e6\u301a\u3010\u3014\u2772\u298b\u2997\ufe5d"
_CLOSE = "]\uff3d\u2046\u27e7\u301b\u3011\u3015\u2773\u298c\u2998\ufe5e"
_LESS = "<\uff1c\u2039\u3008\u27e8\ufe64"
_MORE = ">\uff1e\u203a\u3009\u27e9\ufe65"
_SLASH = "/\uff0f\u2215\u2044\u29f8\u2571"
_BACKSLASH = "\\\uff3c\u2216"
_STARTS = re.compile(f"[{re.escape(_OPEN + _LESS)}]")
_END = re.compile(f"[^{re.escape(_OPEN + _LESS + _CLOSE + _MORE)}]{{0,60}}([{re.escape(_CLOSE + _MORE)}])?")

# One letter stands for all that pass for it. Signs become capitals: unlike figures they do not go on a word.
_FIGURES = {"4": "a", "8": "b", "6": "b", "3": "e", "l": "i", "1": "i", "5": "s", "7": "t", "0": "o"}
_SIGNS = {"@": "A", "|": "I", "!": "I", "$": "S", "+": "T"}
_LOOK_ALIKE = {
    **dict(zip("авсеһіјкмнорԛѕтухѵԝцгвꙇ", "abcehijkmhopqstyxvwurbi", strict=True)),
    **dict(zip("αβεγηικμνορστυχω", "abeynikmnopatuxw", strict=True)),
    **dict(zip("աոսօեցհյզ", "wnuoeghiq", strict=True)),
}
"""Letters of Cyrillic, Greek and Armenian that look like Latin ones; letters of any script that `*` stands for, too."""
_SEPARATORS = "-_:.\u00b7\u2800"
_OTHER = "*"
_HARD = ","
_LEAST_OPENING = 20


def defused(text: str) -> str:
    """The text with round brackets in the place of those of a tag, and our opening words marked; idempotent, never longer."""
    if text.isascii():
        # The words of an opening are longer than most names, and cheaper to rule out than to look for.
        is_short = len(text) < _LEAST_OPENING and "<" not in text and "[" not in text
        if is_short or not _SUSPECT.search(text):
            return text
    return _defused(text)


@lru_cache(maxsize=2_048)
def _defused(text: str) -> str:
    """Kept, since the same titles stand in every brief of a repository."""
    return _without_tags(_without_openings(text))


def _without_tags(text: str) -> str:
    if not _STARTS.search(text):
        return text
    letters, places = _skeleton(text)
    changed = list(text)
    for found in _tags().finditer(letters):
        if _is_mostly_other(found.group()):
            continue
        at = places[found.start()]
        changed[at] = "("
        end = _END.match(text, at + 1)
        if end and end[1]:
            changed[end.start(1)] = ")"
    return "".join(changed)


def _without_openings(text: str) -> str:
    if len(text) < _LEAST_OPENING:
        return text
    letters, places = _skeleton(text)
    pieces, last = [], 0
    for found in _openings().finditer(letters):
        if _is_mostly_other(found.group()):
            continue
        pieces += [text[last : places[found.start()]], tuple(OPENINGS.values())[(found.lastindex or 1) - 1]]
        last = places[found.end() - 1] + 1
    return "".join((*pieces, text[last:])) if pieces else text


def _is_mostly_other(found: str) -> bool:
    """Whether half the letters of a match, or more, look like none of ours: then it is a word of another script."""
    others = found.count(_OTHER)
    return others > 0 and others >= sum(map(str.isalpha, found))


def _skeleton(text: str) -> tuple[str, list[int]]:
    """What the text looks like, with the place in it of each character: small Latin letters, brackets, slashes, blanks.

    Marks and what has no width are left out, a run of white space and separators is one blank, a letter that looks
    like none of ours is `*`, everything else `,`.
    """
    letters: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        for one in _looks(char):
            if one != " " or letters[-1:] != [" "]:
                letters.append(one)
                places.append(at)
    return "".join(letters), places


@lru_cache(maxsize=4_096)
def _looks(char: str) -> str:
    """What a character looks like, as `_skeleton` says; of a ligature its letters, of what cannot be seen nothing."""
    for kinds, look in ((_OPEN, "["), (_LESS, "<"), (_CLOSE + _MORE, ">"), (_SLASH, "/"), (_BACKSLASH, "\\")):
        if char in kinds:
            return look
    return "".join(map(_look, unicodedata.normalize("NFKD", char)))


def _look(char: str) -> str:
    category = unicodedata.category(char)
    if char.isspace() or char in _SEPARATORS or category == "Pd":
        return " "
    if category[0] == "M" or category in ("Cf", "Cc", "Cs") or "FILLER" in unicodedata.name(char, ""):
        return ""
    if char in _SIGNS:
        return _SIGNS[char]
    small = _latin(char) or char.casefold()
    small = _LOOK_ALIKE.get(small, small)
    small = _FIGURES.get(small, small)
    if small.isascii() and small.isalnum():
        return small
    return _OTHER if category[0] == "L" else _HARD


def _latin(char: str) -> str | None:
    """The letter that the name of a character ends with: of small capitals, turned and enclosed ones."""
    if char.isascii():
        return None
    words = unicodedata.name(char, "").split()
    is_latin = "LETTER" in words and ("LATIN" in words or "REGIONAL" in words)
    return words[-1].lower() if is_latin and len(words[-1]) == 1 else None


def _pattern(word: str, between: str) -> str:
    """A pattern for a word as a skeleton has it, with blanks between its letters, and `between` its words."""
    letters = [[f"[{one}{one.upper()}{_OTHER}]" for one in _small(part)] for part in re.split(r"\W+", word)]
    return between.join(" ?".join(part) for part in letters)


def _small(word: str) -> str:
    return "".join(_FIGURES.get(char, char) for char in word.lower())


def _any_of(words: Iterable[str]) -> str:
    return "|".join(_pattern(word, " ?") for word in sorted(words, key=len, reverse=True))


@cache
def _tags() -> re.Pattern[str]:
    """Compiled where a bracket stands somewhere, which in most runs none does."""
    ours, clients = _any_of(_OUR_TAGS), _any_of((*_OUR_TAGS, *_CLIENT_TAGS))
    end = "(?![a-z0-9*])"
    return re.compile(
        rf"\[ ?(?:/|[ /\\]*(?:{ours}){end})|< ?(?:/|[ /\\]*(?:{_pattern('system', '')}|(?:{clients}){end}))"
    )


@cache
def _openings() -> re.Pattern[str]:
    return re.compile("|".join(f"({_pattern(words, '[ ,]*')})" for words in OPENINGS))


_GAP = r"[^a-zA-Z0-9@|!$+]*+"
# What ASCII text must hold to be looked at more closely: one search for a few characters, since every text is asked.
_SUSPECT = re.compile(
    rf"[<\[mMrRwW](?:(?<=<)|(?<=\[){_GAP}[aAbB4@68]|(?<=\[)[ _.:\\-]*+/|(?<=[mM]){_GAP}[aA4@]{_GAP}[jJ]"
    rf"|(?<=[rR]){_GAP}[eE3]{_GAP}[aA4@]{_GAP}[dD]{_GAP}[tT7+]"
    rf"|(?<=[wW]){_GAP}[hH]{_GAP}[aA4@]{_GAP}[tT7+]{_GAP}[fF])"
)
