"""Keep other people's text from closing a block it stands in, opening another, or speaking as the client itself.

What does it is a tag: `[/alerts]`, `[brief]`, `</system-reminder>`, and all that looks like one to a reader, in other
brackets, slashes or letters. Only its brackets are changed, so that the words can still be read.
"""

from __future__ import annotations

import re

# Square brackets and their twins: fullwidth, with a quill, white, tortoise shell, lenticular, ornamental, small.
_OPEN = "\\[\uff3b\u2045\u27e6\u301a\u3010\u3014\u2772\u298b\u2997\ufe5d"
_CLOSE = "\\]\uff3d\u2046\u27e7\u301b\u3011\u3015\u2773\u298c\u2998\ufe5e"
_LESS = "<\uff1c\u2039\u3008\u27e8\ufe64"
_MORE = ">\uff1e\u203a\u3009\u27e9\ufe65"
_SLASH = "/\uff0f\u2215\u2044\u29f8\u2571"
_ANY_SLASH = _SLASH + "\\\\\uff3c\u2216"
_TWINS = {"a": "4@", "b": "68", "e": "3", "i": "1l|!", "l": "1i|!", "s": "5$", "t": "7+"}


def _alike(word: str) -> str:
    """A pattern for a word spelled with figures, signs, marks or letters of other scripts that pass for its own.

    Both cases are written out, and other scripts are all that is not ASCII: to compile ranges that wide, and more so
    without regard to case, takes longer than a whole command should.
    """
    spellings = (char + _TWINS.get(char, "") for char in word)
    return "".join(rf"(?:[{one}{one.upper()}]|[^\x00-\x7f])[\u0300-\u036f]{{0,4}}+" for one in spellings)


_WORD = rf"[ ]?[{_ANY_SLASH}]?[ ]?(?:{_alike('alerts')}|{_alike('brief')})(?!\w)"
_TAG = re.compile(
    rf"(?:[{_OPEN}](?=[ ]?[{_SLASH}]|{_WORD})|[{_LESS}](?=[{_SLASH}]|[ ]?(?i:system)|{_WORD}))"
    rf"(?P<inside>[^{_OPEN}{_CLOSE}{_LESS}{_MORE}]{{0,60}})(?P<close>[{_CLOSE}{_MORE}])?"
)


def defused(text: str) -> str:
    """The cleaned text with round brackets in the place of those of a tag; idempotent, and never longer."""
    return _TAG.sub(lambda tag: f"({tag['inside']}{')' if tag['close'] else ''}", text)
