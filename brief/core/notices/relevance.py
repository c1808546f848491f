"""Decide whether a notice concerns what a session works on, by evaluating its `applies_when` rule against a focus.

A small parser reads the rule. It is never run as code:

    rule    = both ("||" both)*
    both    = test ("&&" test)*
    test    = "!" test | value (("==" | "!=" | "in" | "matches") value)?
    value   = name | text | list | "(" rule ")"
    list    = "[" (value ("," value)*)? "]"
    name    = "component" | "repo" | "branch" | "paths" | "agent"

Text is in double or single quotes, with a backslash before a quote or backslash inside it. `in` tests whether a text is in
a list. `matches` tests whether a text, or any text of a list, matches a pattern, or any pattern of a list. In a pattern `*`
stays within one part of a path and `**` does not: `paths matches "src/**"`, `branch matches ["fix/*", "release/*"]`. Case
matters, except in comparisons with `component`. A test of something unknown about the focus is unknown. An unknown or
invalid rule shows the notice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import lru_cache
from operator import eq
from typing import TypeAlias, TypeVar

from msgspec import Struct

from brief.core.model.errors import DocumentError
from brief.core.notices.component import component_key
from brief.core.text.glob import matches
from brief.core.text.sanitize import clean

LENGTH = 1_000
"""The most characters of a rule."""

DEPTH = 32
"""The most levels of parentheses, lists and negations in a rule."""

_NAMES = ("component", "repo", "branch", "agent")
_TOKEN = re.compile(r"""\s*(?:(\w+)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(==|!=|&&|\|\||[!()\[\],]))""", re.DOTALL)
_ESCAPED = re.compile(r"""\\(["'\\])""")
_END = "the end"


class Truth(StrEnum):
    """The value of a rule for a focus."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Focus(Struct, frozen=True, kw_only=True):
    """What a session works on, as far as known. None means unknown; an empty `paths` means that there are none."""

    component: str | None = None
    repo: str | None = None
    branch: str | None = None
    paths: tuple[str, ...] | None = None
    agent: str | None = None


def applies(rule: str | None, focus: Focus) -> Truth:
    """Whether a rule holds for the focus. No rule always holds; an invalid one is UNKNOWN, and `fault` says why."""
    if rule is None or not rule.strip():
        return Truth.YES
    try:
        return _parsed(rule)(focus)
    except DocumentError:
        return Truth.UNKNOWN


def fault(rule: str | None) -> str | None:
    """What is wrong with a rule, as a sentence. None if it is valid."""
    try:
        if rule is not None and rule.strip():
            _parsed(rule)
    except DocumentError as error:
        return error.sentence
    return None


# ---------------------------------------------------------------- three-valued logic


def _truth(*, holds: bool) -> Truth:
    return Truth.YES if holds else Truth.NO


def _negated(truth: Truth) -> Truth:
    return {Truth.YES: Truth.NO, Truth.NO: Truth.YES, Truth.UNKNOWN: Truth.UNKNOWN}[truth]


def _any(truths: Iterable[Truth]) -> Truth:
    """YES if any is YES, else UNKNOWN if any is UNKNOWN, else NO."""
    found = Truth.NO
    for truth in truths:
        if truth is Truth.YES:
            return truth
        if truth is Truth.UNKNOWN:
            found = truth
    return found


def _compared(one: str | None, other: str | None, hold: Callable[[str, str], bool], *, is_component: bool) -> Truth:
    if one is None or other is None:
        return Truth.UNKNOWN
    return _truth(holds=hold(component_key(one), component_key(other)) if is_component else hold(one, other))


# ---------------------------------------------------------------- the parts of a rule

_Texts: TypeAlias = tuple[str | None, ...]


class _Text(Struct, frozen=True):
    read: Callable[[Focus], str | None]
    is_component: bool = False
    kind = "text"


class _List(Struct, frozen=True):
    read: Callable[[Focus], _Texts | None]
    is_component: bool = False
    kind = "a list"


class _Test(Struct, frozen=True):
    read: Callable[[Focus], Truth]
    kind = "a test"


_Value: TypeAlias = _Text | _List | _Test
_Expected = TypeVar("_Expected", _Text, _List, _Test)
_Inner = TypeVar("_Inner")


def _equal(one: _Text, other: _Text) -> _Test:
    is_component = one.is_component or other.is_component
    return _Test(lambda focus: _compared(one.read(focus), other.read(focus), eq, is_component=is_component))


def _not(test: _Test) -> _Test:
    return _Test(lambda focus: _negated(test.read(focus)))


def _among(one: _Text, many: _List) -> _Test:
    is_component = one.is_component or many.is_component

    def judged(focus: Focus) -> Truth:
        text, texts = one.read(focus), many.read(focus)
        if texts is None:
            return Truth.UNKNOWN
        return _any(_compared(text, other, eq, is_component=is_component) for other in texts)

    return _Test(judged)


def _matching(many: _List, patterns: _List) -> _Test:
    is_component = many.is_component or patterns.is_component

    def judged(focus: Focus) -> Truth:
        texts, wanted = many.read(focus), patterns.read(focus)
        if texts is None or wanted is None:
            return Truth.UNKNOWN
        return _any(
            _compared(text, pattern, matches, is_component=is_component) for text in texts for pattern in wanted
        )

    return _Test(judged)


def _either(tests: list[_Test]) -> _Test:
    return _Test(lambda focus: _any(test.read(focus) for test in tests))


def _both(tests: list[_Test]) -> _Test:
    return _Test(lambda focus: _negated(_any(_negated(test.read(focus)) for test in tests)))


# ---------------------------------------------------------------- the parser


class _Token(Struct, frozen=True):
    """A word, a text with its quotes, or an operator. `column` counts from 1."""

    text: str
    column: int

    @property
    def is_quoted(self) -> bool:
        return self.text[0] in "\"'"


@lru_cache(maxsize=1_024)
def _parsed(rule: str) -> Callable[[Focus], Truth]:
    if len(rule) > LENGTH:
        raise _broken(f"has {len(rule):,} characters; at most {LENGTH:,} are allowed; make it shorter")
    return _Parser(_tokens(rule), len(rule) + 1).rule().read


def _tokens(rule: str) -> list[_Token]:
    tokens: list[_Token] = []
    at, end = 0, len(rule.rstrip())
    while at < end:
        found = _TOKEN.match(rule, at)
        if found is None:
            raise _unreadable(rule, at + len(rule[at:]) - len(rule[at:].lstrip()))
        text = next(group for group in found.groups() if group)
        tokens.append(_Token(text, found.end() - len(text) + 1))
        at = found.end()
    return tokens


class _Parser:
    """A recursive-descent parser with one method for each line of the grammar."""

    def __init__(self, tokens: list[_Token], end: int) -> None:
        self._tokens = [*tokens, _Token(_END, end)]
        self._at = 0
        self._depth = 0

    def rule(self) -> _Test:
        whole = self._need(_Test, self._alternatives(), self._tokens[0])
        if self._next.text != _END:
            raise self._unexpected("&& or || or the end")
        return whole

    def _alternatives(self) -> _Value:
        return self._chain("||", self._conjunction, _either)

    def _conjunction(self) -> _Value:
        return self._chain("&&", self._test, _both)

    def _chain(self, sign: str, part: Callable[[], _Value], joined: Callable[[list[_Test]], _Test]) -> _Value:
        start, first = self._next, part()
        if self._next.text != sign:
            return first
        tests = [self._need(_Test, first, start)]
        while self._took(sign):
            start = self._next
            tests.append(self._need(_Test, part(), start))
        return joined(tests)

    def _test(self) -> _Value:
        if self._took("!"):
            start = self._next
            return _not(self._need(_Test, self._inside(self._test), start))
        start, left = self._next, self._value()
        if self._took("=="):
            return _equal(self._need(_Text, left, start), self._needed(_Text))
        if self._took("!="):
            return _not(_equal(self._need(_Text, left, start), self._needed(_Text)))
        if self._took("in"):
            return _among(self._need(_Text, left, start), self._needed(_List))
        if self._took("matches"):
            right_start = self._next
            return _matching(self._as_list(left, start), self._as_list(self._value(), right_start))
        return left

    def _value(self) -> _Value:
        token = self._next
        if self._took("("):
            value = self._inside(self._alternatives)
            self._expect(")")
            return value
        if self._took("["):
            return self._inside(self._list)
        if token.is_quoted:
            self._at += 1
            text = _ESCAPED.sub(r"\1", token.text[1:-1])
            return _Text(lambda _: text)
        return self._name(token)

    def _name(self, token: _Token) -> _Value:
        if token.text in _NAMES:
            self._at += 1
            return _Text(lambda focus: getattr(focus, token.text), is_component=token.text == "component")
        if token.text == "paths":
            self._at += 1
            return _List(lambda focus: focus.paths)
        raise self._unexpected(f"{', '.join(_NAMES)}, paths or a text in quotes")

    def _list(self) -> _List:
        texts: list[_Text] = []
        while not self._took("]"):
            if texts:
                self._expect(",")
            texts.append(self._needed(_Text))
        is_component = any(text.is_component for text in texts)
        return _List(lambda focus: tuple(text.read(focus) for text in texts), is_component)

    # ------------------------------------------------------------ steps

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _took(self, text: str) -> bool:
        taken = self._next.text == text
        self._at += taken
        return taken

    def _expect(self, text: str) -> None:
        if not self._took(text):
            raise self._unexpected(text)

    def _inside(self, part: Callable[[], _Inner]) -> _Inner:
        self._depth += 1
        if self._depth > DEPTH:
            raise _broken(f"is nested more than {DEPTH} levels deep; make it flatter")
        value = part()
        self._depth -= 1
        return value

    def _needed(self, kind: type[_Expected]) -> _Expected:
        start = self._next
        return self._need(kind, self._value(), start)

    @staticmethod
    def _need(kind: type[_Expected], value: _Value, start: _Token) -> _Expected:
        if isinstance(value, kind):
            return value
        raise _broken(f"has {value.kind} at column {start.column}, where {kind.kind} is expected")

    def _as_list(self, value: _Value, start: _Token) -> _List:
        if isinstance(value, _List):
            return value
        text = self._need(_Text, value, start)
        return _List(lambda focus: (text.read(focus),), text.is_component)

    def _unexpected(self, wanted: str) -> DocumentError:
        token = self._next
        return _broken(f"has {clean(token.text, 40)} at column {token.column}, where {wanted} is expected")


def _unreadable(rule: str, at: int) -> DocumentError:
    what = "a quote that is never closed" if rule[at] in "\"'" else f'an unexpected "{clean(rule[at], 4)}"'
    return _broken(f"has {what} at column {at + 1}")


def _broken(what: str) -> DocumentError:
    return DocumentError(f"applies_when: the rule {what}; until it is corrected, the notice is shown to all")
