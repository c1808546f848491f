"""A notice as text: written so that it is read back as it was meant, and changed without touching another byte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brief.core.model.errors import DocumentError
from brief.core.notices.notice import LIMIT, front_matter
from brief.core.yaml import reader
from brief.core.yaml.writer import layout, spell, spell_key

_FENCE = "---"
_MARK = b"\xef\xbb\xbf"


def written(fields: Mapping[str, Any], body: str) -> str:
    """The text of a notice with these fields, in their order, and this body; a field that is None is left out."""
    lines = [f"{spell_key(key)}: {spell(value)}\n" for key, value in fields.items() if value is not None]
    return f"{_FENCE}\n{''.join(lines) or '{}' + chr(10)}{_FENCE}\n{body}"


def ended(body: str) -> str:
    """The body as a file ends: its last line has a line end."""
    return body + "\n" if body and not body.endswith("\n") else body


def changed(raw: bytes, changes: Mapping[str, Any]) -> bytes:
    """The file of a notice with these fields set: a field that is there keeps its place, a new one comes last.

    Every byte outside the values that change stays: comments, order, line ends, byte order mark, body. Raises
    DocumentError where the file is no notice, or is written so that a value cannot be changed in its place.
    """
    fields, body = front_matter(raw)
    whole = reader.decode(raw, limit=LIMIT)
    head = whole[: len(whole) - len(body)]
    for key, value in changes.items():
        head = _with(head, key, value)
    text = head + body
    _prove(text, {**fields, **{key: reader.load(spell(value)) for key, value in changes.items()}}, body, changes)
    return (_MARK if raw.startswith(_MARK) else b"") + text.encode()


def _with(head: str, key: str, value: Any) -> str:
    """The front matter, with its fences, with the field set."""
    closing = head.rindex(_FENCE)
    found = layout(head[:closing])
    span = found.values.get(key)
    if span is not None:
        return _replaced(head, span, spell(value))
    entry = f"{spell_key(key)}: {spell(value)}"
    if found.flow:
        inside = head.index("{", found.start) + 1
        return f"{head[:inside]}{entry}{', ' if found.values else ''}{head[inside:]}"
    indent = head[head.rfind("\n", 0, found.start) + 1 : found.start]
    line_end = "\r\n" if head.startswith(f"{_FENCE}\r") else "\n"
    return f"{head[:closing]}{indent}{entry}{line_end}{head[closing:]}"


def _replaced(head: str, span: tuple[int, int], spelled: str) -> str:
    start, end = span
    # The parser counts the line end of a block of text as part of it, and an empty value touches its colon.
    end = start + len(head[start:end].rstrip())
    gap = " " if head[start - 1] == ":" else ""
    return head[:start] + gap + spelled + head[end:]


def _prove(text: str, fields: Mapping[str, Any], body: str, changes: Mapping[str, Any]) -> None:
    """Refuse a change that did more or less than it should: aliases and rare spellings of YAML are found out here."""
    try:
        after, body_after = front_matter(text)
    except DocumentError:
        after, body_after = {}, body
    if body_after != body or _comparable(after) != _comparable(fields):
        keys = ", ".join(changes)
        raise DocumentError(f"{keys} cannot be set here as the front matter is written; set it by hand, one key a line")


def _comparable(fields: Mapping[str, Any]) -> dict[str, str]:
    """Fields without their order, told apart by type, with a NaN equal to itself."""
    return {key: repr(value) for key, value in fields.items()}
