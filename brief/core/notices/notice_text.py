"""Write the text of a notice, and change single fields of one without touching any other byte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brief.core.model.errors import DocumentError
from brief.core.notices.notice import LIMIT, front_matter
from brief.core.yaml import reader
from brief.core.yaml.writer import find_layout, spell, spell_key

_FENCE = "---"
_MARK = b"\xef\xbb\xbf"


def render_notice(fields: Mapping[str, Any], body: str) -> str:
    """The text of a notice with these fields, in this order, and this body. Fields that are None are left out."""
    lines = [f"{spell_key(key)}: {spell(value)}\n" for key, value in fields.items() if value is not None]
    return f"{_FENCE}\n{''.join(lines) or '{}' + chr(10)}{_FENCE}\n{body}"


def end_last_line(body: str) -> str:
    """The body with a line end after its last line."""
    return body + "\n" if body and not body.endswith("\n") else body


def change_fields(raw: bytes, changes: Mapping[str, Any]) -> bytes:
    """The file of a notice with these fields set. An existing field keeps its place; a new one goes last.

    Every byte outside the changed values stays: comments, order, line ends, byte order mark, body. Raises DocumentError if
    the file is not a notice, or if its syntax does not allow a value to be changed in place.
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
    """The front matter, including its fences, with the field set."""
    closing = head.rindex(_FENCE)
    found = find_layout(head[:closing])
    span = found.values.get(key)
    if span is not None:
        return _replace_value(head, span, spell(value))
    entry = f"{spell_key(key)}: {spell(value)}"
    if found.flow:
        inside = head.index("{", found.start) + 1
        return f"{head[:inside]}{entry}{', ' if found.values else ''}{head[inside:]}"
    indent = head[head.rfind("\n", 0, found.start) + 1 : found.start]
    line_end = "\r\n" if head.startswith(f"{_FENCE}\r") else "\n"
    return f"{head[:closing]}{indent}{entry}{line_end}{head[closing:]}"


def _replace_value(head: str, span: tuple[int, int], spelled: str) -> str:
    start, end = span
    # The parser includes the line end of a block of text, and an empty value touches its colon.
    end = start + len(head[start:end].rstrip())
    gap = " " if head[start - 1] == ":" else ""
    return head[:start] + gap + spelled + head[end:]


def _prove(text: str, fields: Mapping[str, Any], body: str, changes: Mapping[str, Any]) -> None:
    """Refuse a change with any other effect than intended, which aliases and rare YAML syntax can cause."""
    try:
        after, body_after = front_matter(text)
    except DocumentError:
        after, body_after = {}, body
    if body_after != body or _as_comparable(after) != _as_comparable(fields):
        keys = ", ".join(changes)
        raise DocumentError(
            f"{keys} cannot be set because of how the front matter is written; set it by hand, one key per line"
        )


def _as_comparable(fields: Mapping[str, Any]) -> dict[str, str]:
    """The fields in a comparable form: without order, distinct by type, with NaN equal to itself."""
    return {key: repr(value) for key, value in fields.items()}
