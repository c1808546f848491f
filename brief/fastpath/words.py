"""The words of a call that the fast path takes by itself; any other call is the whole command's."""

from __future__ import annotations

_VALUED = ("--root", "--session", "--format", "--section", "--width", "--budget")
_FORMATS = ("text", "json", "prompt", "line")


class Call:
    """A `majordomus brief` whose words are all understood. Every name is an option of the same name."""

    __slots__ = ("budget", "format", "root", "sections", "session", "strict", "width")

    def __init__(self) -> None:
        self.budget: str | None = None
        self.format: str | None = None
        self.root: str | None = None
        self.sections: list[str] = []
        self.session: str | None = None
        self.strict = False
        self.width: str | None = None

    def params(self, root: str) -> list[tuple[str, str]]:
        """The query of the same call."""
        given = [("format", self.format), ("session", self.session), ("width", self.width), ("budget", self.budget)]
        named = [(name, value) for name, value in given if value is not None]
        return [("root", root), *named, *(("section", name) for name in self.sections)]


def read_call(words: list[str]) -> Call | None:
    """The call that `words` make, or None where the whole command has to look at them (help, mistakes)."""
    call = Call()
    at = 0
    while at < len(words):
        word, joined, value = words[at].partition("=")
        at += 1
        if word in _VALUED:
            if not joined:
                if at == len(words) or words[at].startswith("-"):
                    return None
                value = words[at]
                at += 1
            _set(call, word, value)
        elif word == "--line" and not joined:
            call.format = "line"
        elif word == "--strict" and not joined:
            call.strict = True
        else:
            return None
    if call.format not in (None, *_FORMATS):
        return None
    return call


def _set(call: Call, word: str, value: str) -> None:
    if word == "--section":
        call.sections.append(value)
    else:
        setattr(call, word[2:], value)
