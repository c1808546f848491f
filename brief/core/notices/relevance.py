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


def evaluate_rule(rule: str | None, focus: Focus) -> Truth:
    """Evaluate a rule for the focus. No rule always holds; an invalid one is UNKNOWN, and `find_fault` says why."""
    if rule is None or not rule.strip():
        return Truth.YES
    try:
        return _parse_rule(rule)(focus)
    except DocumentError:
        return Truth.UNKNOWN


def find_fault(rule: str | None) -> str | None:
    """What is wrong with a rule, as a clause. None if it is valid."""
    try:
        if rule is not None and rule.strip():
            _parse_rule(rule)
    except DocumentError as error:
        return error.sentence
    return None


# ---------------------------------------------------------------- three-valued logic


def _truth(*, holds: bool) -> Truth:
    return Truth.YES if holds else Truth.NO


def _negate(truth: Truth) -> Truth:
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


def _compare(one: str | None, other: str | None, hold: Callable[[str, str], bool], *, is_component: bool) -> Truth:
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


def _test_equal(one: _Text, other: _Text) -> _Test:
    is_component = one.is_component or other.is_component
    return _Test(lambda focus: _compare(one.read(focus), other.read(focus), eq, is_component=is_component))


def _test_not(test: _Test) -> _Test:
    return _Test(lambda focus: _negate(test.read(focus)))


def _test_in(one: _Text, many: _List) -> _Test:
    is_component = one.is_component or many.is_component

    def judged(focus: Focus) -> Truth:
        text, texts = one.read(focus), many.read(focus)
        if texts is None:
            return Truth.UNKNOWN
        return _any(_compare(text, other, eq, is_component=is_component) for other in texts)

    return _Test(judged)


def _test_matches(many: _List, patterns: _List) -> _Test:
    is_component = many.is_component or patterns.is_component

    def judged(focus: Focus) -> Truth:
        texts, wanted = many.read(focus), patterns.read(focus)
        if texts is None or wanted is None:
            return Truth.UNKNOWN
        return _any(_compare(text, pattern, matches, is_component=is_component) for text in texts for pattern in wanted)

    return _Test(judged)


def _test_or(tests: list[_Test]) -> _Test:
    return _Test(lambda focus: _any(test.read(focus) for test in tests))


def _test_and(tests: list[_Test]) -> _Test:
    return _Test(lambda focus: _negate(_any(_negate(test.read(focus)) for test in tests)))


# ---------------------------------------------------------------- the parser


class _Token(Struct, frozen=True):
    """A word, a text with its quotes, or an operator. `column` counts from 1."""

    text: str
    column: int

    @property
    def is_quoted(self) -> bool:
        return self.text[0] in "\"'"


@lru_cache(maxsize=1_024)
def _parse_rule(rule: str) -> Callable[[Focus], Truth]:
    if len(rule) > LENGTH:
        raise _make_fault(f"has {len(rule):,} characters; at most {LENGTH:,} are allowed; make it shorter")
    return _Parser(_tokenize(rule), len(rule) + 1).parse_rule().read


def _tokenize(rule: str) -> list[_Token]:
    tokens: list[_Token] = []
    at, end = 0, len(rule.rstrip())
    while at < end:
        found = _TOKEN.match(rule, at)
        if found is None:
            raise _make_token_fault(rule, at + len(rule[at:]) - len(rule[at:].lstrip()))
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

    def parse_rule(self) -> _Test:
        whole = self._require_kind(_Test, self._parse_or(), self._tokens[0])
        if self._next.text != _END:
            raise self._make_unexpected("&& or || or the end")
        return whole

    def _parse_or(self) -> _Value:
        return self._parse_chain("||", self._parse_and, _test_or)

    def _parse_and(self) -> _Value:
        return self._parse_chain("&&", self._parse_test, _test_and)

    def _parse_chain(self, sign: str, part: Callable[[], _Value], joined: Callable[[list[_Test]], _Test]) -> _Value:
        start, first = self._next, part()
        if self._next.text != sign:
            return first
        tests = [self._require_kind(_Test, first, start)]
        while self._take_if(sign):
            start = self._next
            tests.append(self._require_kind(_Test, part(), start))
        return joined(tests)

    def _parse_test(self) -> _Value:
        if self._take_if("!"):
            start = self._next
            return _test_not(self._require_kind(_Test, self._parse_nested(self._parse_test), start))
        start, left = self._next, self._parse_value()
        if self._take_if("=="):
            return _test_equal(self._require_kind(_Text, left, start), self._expect_kind(_Text))
        if self._take_if("!="):
            return _test_not(_test_equal(self._require_kind(_Text, left, start), self._expect_kind(_Text)))
        if self._take_if("in"):
            return _test_in(self._require_kind(_Text, left, start), self._expect_kind(_List))
        if self._take_if("matches"):
            right_start = self._next
            return _test_matches(self._as_list(left, start), self._as_list(self._parse_value(), right_start))
        return left

    def _parse_value(self) -> _Value:
        token = self._next
        if self._take_if("("):
            value = self._parse_nested(self._parse_or)
            self._expect(")")
            return value
        if self._take_if("["):
            return self._parse_nested(self._list)
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
        raise self._make_unexpected(f"{', '.join(_NAMES)}, paths or a text in quotes")

    def _list(self) -> _List:
        texts: list[_Text] = []
        while not self._take_if("]"):
            if texts:
                self._expect(",")
            texts.append(self._expect_kind(_Text))
        is_component = any(text.is_component for text in texts)
        return _List(lambda focus: tuple(text.read(focus) for text in texts), is_component)

    # ------------------------------------------------------------ steps

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take_if(self, text: str) -> bool:
        taken = self._next.text == text
        self._at += taken
        return taken

    def _expect(self, text: str) -> None:
        if not self._take_if(text):
            raise self._make_unexpected(text)

    def _parse_nested(self, part: Callable[[], _Inner]) -> _Inner:
        self._depth += 1
        if self._depth > DEPTH:
            raise _make_fault(f"is nested more than {DEPTH} levels deep; make it flatter")
        value = part()
        self._depth -= 1
        return value

    def _expect_kind(self, kind: type[_Expected]) -> _Expected:
        start = self._next
        return self._require_kind(kind, self._parse_value(), start)

    @staticmethod
    def _require_kind(kind: type[_Expected], value: _Value, start: _Token) -> _Expected:
        if isinstance(value, kind):
            return value
        raise _make_fault(f"has {value.kind} at column {start.column}, where {kind.kind} is expected")

    def _as_list(self, value: _Value, start: _Token) -> _List:
        if isinstance(value, _List):
            return value
        text = self._require_kind(_Text, value, start)
        return _List(lambda focus: (text.read(focus),), text.is_component)

    def _make_unexpected(self, wanted: str) -> DocumentError:
        token = self._next
        return _make_fault(f"has {clean(token.text, 40)} at column {token.column}, where {wanted} is expected")


def _make_token_fault(rule: str, at: int) -> DocumentError:
    what = "a quote that is never closed" if rule[at] in "\"'" else f'an unexpected "{clean(rule[at], 4)}"'
    return _make_fault(f"has {what} at column {at + 1}")


def _make_fault(what: str) -> DocumentError:
    return DocumentError(f"the rule {what}")
