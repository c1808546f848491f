"""Read YAML strictly: the core schema of YAML 1.2, bounded expansion, and every error a sentence.

`yes`, `22:00` and `2026-10-11` are text. A key is text and occurs once. The expanded size of a short file is bounded. The
value is built from parser events on an explicit stack, so nesting cannot overflow the C stack.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeAlias

from msgspec import Struct, field

from brief.core.model.errors import DocumentError
from brief.core.text.sanitize import clean

if TYPE_CHECKING:
    import yaml

LIMIT = 262_144
"""The most bytes of UTF-8 that a document may have, unless the caller gives another limit."""

_MOST_DEPTH = 64
_MOST_NODES = 20_000
_CHARACTERS_A_NODE = 64
_MOST_DIGITS = 1_000
_INTEGERS = range(-(2**63), 2**63)
_CORE = "tag:yaml.org,2002:"
_Mark: TypeAlias = Any  # the stubs leave optional what every parsed event has

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_BASES = {"0o": 8, "0x": 16}
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

_TAGGED: dict[str, tuple[type, ...]] = {"int": (int,), "bool": (bool,), "null": (type(None),), "float": (float, int)}

_QUOTE = "needs quotes"
_INDENT = "indent all keys of one mapping alike, and put quotes around the whole of a value"
_ADVICE = (
    ("mapping values are not allowed", f'a value with ": " in it {_QUOTE}'),
    ("entries are not allowed", f'begin a list on a line of its own; a value that begins with "- " {_QUOTE}'),
    ("that cannot start any token", f"indent with spaces, never tabs; a value that begins with @, ` or % {_QUOTE}"),
    ("',' or ']'", f"close the list with ]; a value that begins with [ {_QUOTE}"),
    ("',' or '}'", f"close the mapping with }}; a value that begins with {{ {_QUOTE}"),
    ("unexpected end of stream", "close the quote"),
    ("unexpected document", "close the quote"),
    ("unknown escape character", "write \\\\ for a backslash, or use single quotes"),
    ("expected ':'", 'every line of a mapping reads "key: value"'),
    ("alphabetic or numeric", f"a value that begins with * or & {_QUOTE}"),
    ("comment or line break", f"a value that begins with | or > {_QUOTE}"),
    ("chomping or indentation", f"a value that begins with | or > {_QUOTE}"),
    ("document start", "remove what follows the end of the document"),
    ("node content", f"a value that begins with ], }} or a comma {_QUOTE}"),
    ("expected key", _INDENT),
    ("<block end>", _INDENT),
    ("'-' indicator", _INDENT),
    ("nesting depth", "make it flatter"),
)
"""Words of the parser's messages (libyaml and pure Python differ), each with what a person can do about it."""


def load(text: str | bytes, *, limit: int = LIMIT) -> Any:
    """Load the one YAML document in `text`; None if it is empty. Raises DocumentError, whose message is a sentence.

    Lines and columns count from 1 in `text` as given. Limits: `limit` bytes, 64 levels, 20,000 expanded nodes.
    """
    document = decode(text, limit=limit)
    found = _UNPRINTABLE.search(document)
    if found:
        raise _make_error(
            *_place(document, found.start()), f"U+{ord(found.group()):04X} is not allowed in YAML; remove it"
        )
    import yaml  # noqa: PLC0415 - slow to load, and many repositories have no file to read

    loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder().build(yaml.parse(document, Loader=loader))
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as fault:
        raise _syntax_error(fault, document) from fault


def decode(text: str | bytes, *, limit: int) -> str:
    """Decode `text` and drop a byte order mark. Raises DocumentError above `limit` bytes or if it is not UTF-8."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if len(raw) > limit:
        raise DocumentError(f"this has {len(raw):,} bytes and at most {limit:,} are read; make it shorter")
    try:
        decoded = raw.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError as fault:
        place = _place(raw[: fault.start].decode(), fault.start)
        raise _make_error(*place, f"byte 0x{raw[fault.start]:02x} is not UTF-8; save the file as UTF-8") from fault
    return decoded.removeprefix("\ufeff")


# ---------------------------------------------------------------- the value


class _Anchored(Struct):
    """The target of an anchor: its value (None while still open), the nodes it expands to, and the levels below it."""

    value: Any
    nodes: int
    height: int
    closed: bool


class _Frame(Struct):
    """A mapping or list under construction. `key` is the key that is waiting for its value."""

    value: dict[str, Any] | list[Any]
    start: _Mark
    anchor: _Anchored | None
    nodes_before: int
    height: int = 0
    key: str | None = None
    lines: dict[str, int] = field(default_factory=dict)

    @property
    def wants_key(self) -> bool:
        return isinstance(self.value, dict) and self.key is None


class _Builder:
    """Builds one value from parser events: strict about keys and tags, bounded in depth and in expanded nodes."""

    def __init__(self) -> None:
        self._frames: list[_Frame] = []
        self._anchors: dict[str, _Anchored] = {}
        self._nodes = 0
        self._documents = 0
        self._root: Any = None

    def build(self, events: Iterator[yaml.Event]) -> Any:
        for event in events:
            step = self._STEPS.get(type(event).__name__)
            if step:
                step(self, event)
        return self._root

    def _begin(self, event: yaml.DocumentStartEvent) -> None:
        self._documents += 1
        if self._documents > 1:
            _refuse_at(event.start_mark, "a second document begins here and only one is read; remove it")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        value = _read_value(event)
        nodes = 1 + len(event.value) // _CHARACTERS_A_NODE
        self._count(nodes, event.start_mark)
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(value, nodes, 0, closed=True)
        self._add(value, event.start_mark, 0, event.value)

    def _alias(self, event: yaml.AliasEvent) -> None:
        spelled = clean(f"*{event.anchor}", 60)
        anchored = self._anchors.get(event.anchor or "")
        if anchored is None:
            _refuse_at(event.start_mark, f"{spelled} names no anchor above it; a value that begins with * {_QUOTE}")
        if not anchored.closed:
            _refuse_at(event.start_mark, f"{spelled} refers to a value that contains it; write the value out")
        self._check_depth(len(self._frames) + anchored.height, event.start_mark)
        self._count(anchored.nodes, event.start_mark)
        self._add(anchored.value, event.start_mark, anchored.height, spelled)

    def _open(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        mapping = type(event).__name__ == "MappingStartEvent"
        if event.tag not in (None, "!", _CORE + ("map" if mapping else "seq")):
            _refuse_tag(event)
        if self._frames and self._frames[-1].wants_key:
            advice = f"a value that begins with {{ or [ {_QUOTE}"
            _refuse_at(event.start_mark, f"keys are text, not mappings or lists; {advice}")
        self._check_depth(len(self._frames) + 1, event.start_mark)
        anchor = None
        if event.anchor:
            anchor = self._anchors[event.anchor] = _Anchored(None, 0, 0, closed=False)
        self._frames.append(_Frame({} if mapping else [], event.start_mark, anchor, self._nodes))
        self._count(1, event.start_mark)

    def _close(self, _: yaml.Event) -> None:
        frame = self._frames.pop()
        if frame.anchor:
            frame.anchor.value, frame.anchor.closed = frame.value, True
            frame.anchor.nodes, frame.anchor.height = (self._nodes - frame.nodes_before, frame.height + 1)
        self._add(frame.value, frame.start, frame.height + 1, "")

    def _add(self, value: Any, mark: _Mark, height: int, spelled: str) -> None:
        """Add a finished value to its parent. `spelled` is a scalar as written, for the message about a bad key."""
        if not self._frames:
            self._root = value
            return
        frame = self._frames[-1]
        frame.height = max(frame.height, height)
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is None:
            frame.key = self._key(frame, value, mark, spelled)
        else:
            frame.value[frame.key] = value
            frame.key = None

    @staticmethod
    def _key(frame: _Frame, value: Any, mark: _Mark, spelled: str) -> str:
        if not isinstance(value, str):
            _refuse_at(mark, f"keys are text, and {clean(spelled, 60) or 'an empty key'} is not; put quotes around it")
        line, first = mark.line + 1, frame.lines.get(value)
        if first is not None:
            again = f"is on line {first} and again on line {line}; remove one"
            _refuse_at(mark, f'the key "{clean(value, 60)}" {again}')
        frame.lines[value] = line
        return value

    def _count(self, nodes: int, mark: _Mark) -> None:
        self._nodes += nodes
        if self._nodes > _MOST_NODES:
            _refuse_at(mark, f"this expands to more than {_MOST_NODES:,} values; make it shorter, or use fewer aliases")

    @staticmethod
    def _check_depth(depth: int, mark: _Mark) -> None:
        if depth > _MOST_DEPTH:
            _refuse_at(mark, f"this is nested more than {_MOST_DEPTH} levels deep; make it flatter")

    _STEPS: ClassVar[dict[str, Callable[[Any, Any], None]]] = {
        "DocumentStartEvent": _begin,
        "ScalarEvent": _scalar,
        "AliasEvent": _alias,
        "MappingStartEvent": _open,
        "SequenceStartEvent": _open,
        "MappingEndEvent": _close,
        "SequenceEndEvent": _close,
    }


# ---------------------------------------------------------------- scalars


def _read_value(event: yaml.ScalarEvent) -> Any:
    if event.tag is not None:
        return _read_tagged(event)
    return _read_plain(event.value, event.start_mark) if event.implicit[0] else event.value


def _read_plain(text: str, mark: _Mark) -> Any:
    """The value of an unquoted word in the core schema."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return _read_integer(text, mark)
    return _read_float(text, mark) if _FLOAT.fullmatch(text) else text


def _read_integer(text: str, mark: _Mark) -> int:
    base = _BASES.get(text[:2])
    digits = text[2:] if base else text
    number = int(digits, base or 10) if len(digits) <= _MOST_DIGITS else _INTEGERS.stop
    if number not in _INTEGERS:
        _refuse_at(mark, f"{clean(text, 60)} is beyond 64 bits; write a smaller number, or put quotes around it")
    return number


def _read_float(text: str, mark: _Mark) -> float:
    if text[-1] in "fFnN":
        return float(text.replace(".", "", 1))
    number = float(text)
    if math.isinf(number):
        _refuse_at(mark, f"{clean(text, 60)} is beyond 64 bits; write a smaller number, or put quotes around it")
    return number


def _read_tagged(event: yaml.ScalarEvent) -> Any:
    """The value of a scalar with a tag of the core schema, which must match its spelling."""
    kind = (event.tag or "").removeprefix(_CORE)
    if kind in ("!", "str"):
        return event.value
    if kind not in _TAGGED:
        _refuse_tag(event)
    value = _read_plain(event.value, event.start_mark)
    if type(value) not in _TAGGED[kind]:
        _refuse_at(
            event.start_mark, f'"{clean(event.value, 60)}" is not a !!{kind}; remove the tag, or correct the value'
        )
    return float(value) if kind == "float" else value


# ---------------------------------------------------------------- errors


def _make_error(line: int, column: int, what: str) -> DocumentError:
    return DocumentError(f"line {line}, column {column}: {what}", line, column)


def _refuse_at(mark: _Mark, what: str) -> NoReturn:
    raise _make_error(mark.line + 1, mark.column + 1, what)


def _refuse_tag(event: yaml.ScalarEvent | yaml.MappingStartEvent | yaml.SequenceStartEvent) -> NoReturn:
    tag = clean((event.tag or "").replace(_CORE, "!!", 1), 60)
    _refuse_at(event.start_mark, f"the tag {tag} is not allowed here; remove it; a value that begins with ! {_QUOTE}")


def _syntax_error(fault: Exception, document: str) -> DocumentError:
    """An error of the parser, placed at the line to correct, with matching advice."""
    mark, begun = (getattr(fault, "problem_mark", None), getattr(fault, "context_mark", None))
    if mark is None:
        return DocumentError(f"this cannot be read as YAML ({clean(str(fault))}); correct it")
    lines = [*document.splitlines(), "", ""]
    if begun and not lines[mark.line].strip():
        mark = begun
    problem = str(getattr(fault, "problem", ""))
    if "node content" in problem and not lines[mark.line].strip():
        last = document.rstrip()
        line, column = _place(last, len(last))
        return _make_error(line, column, f'"{clean(lines[line - 1], 60)}" is never closed; close it with ] or }}')
    if begun and begun.line != mark.line:
        problem += f" {getattr(fault, 'context', '')} begun on line {begun.line + 1}"
    advice = next((advice for words, advice in _ADVICE if words in problem), "correct it")
    what = f'"{clean(lines[mark.line], 60)}" cannot be read ({clean(problem)}); {advice}'
    return _make_error(mark.line + 1, mark.column + 1, what)


def _place(text: str, at: int) -> tuple[int, int]:
    """The line and column, counting from 1, of the character at `at`, or of the end of a shorter text."""
    before = text[:at]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
