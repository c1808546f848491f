from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.model.errors import DocumentError
from brief.core.notices.notice import front_matter, parse
from brief.core.notices.notice_text import change_fields, render_notice

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(
    st.dictionaries(st.text("abcyn-:# é\n", max_size=20), TEXT | st.integers(-9, 9) | st.booleans(), max_size=6), TEXT
)
def test_what_is_written_is_read_back(fields: dict[str, Any], body: str) -> None:
    """Fields keep their values and their order, and no character of the body is lost."""
    read, rest = front_matter(render_notice(fields, body).encode())
    assert (list(read.items()), rest) == (list(fields.items()), body)


def test_a_field_that_is_none_is_left_out() -> None:
    """A notice says what it has; one that has nothing is a notice still."""
    assert render_notice({"kind": "lock", "expires": None}, "body") == "---\nkind: lock\n---\nbody"
    assert parse(render_notice({"kind": None}, "body"), "slug").body == "body"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("---\nkind: lock\n---\nbody", "---\nkind: lock\nstatus: done\n---\nbody"),
        ("---\nstatus: active\nx-own: [1]\n---\n", "---\nstatus: done\nx-own: [1]\n---\n"),
        ("---\nstatus: active # why\n# more\n---\n", "---\nstatus: done # why\n# more\n---\n"),
        ("---\r\nstatus: active\r\n---\r\na\r\n", "---\r\nstatus: done\r\n---\r\na\r\n"),
        ("---\r\nkind: lock\r\n---", "---\r\nkind: lock\r\nstatus: done\r\n---"),
        ("\ufeff---\nstatus:   'active'\n---\n\ufeff", "\ufeff---\nstatus:   done\n---\n\ufeff"),
        ("---\nstatus:\nkind: lock\n---\n", "---\nstatus: done\nkind: lock\n---\n"),
        ("---\nstatus: # none\n---\n", "---\nstatus: done # none\n---\n"),
        ('---\n"status" : active\n---\n', '---\n"status" : done\n---\n'),
        ("---\n? status\n: active\n---\n", "---\n? status\n: done\n---\n"),
        ("---\nstatus: >-\n  active\n\nkind: lock\n---\n", "---\nstatus: done\n\nkind: lock\n---\n"),
        ("---\n  kind: lock\n  title: x\n---\n", "---\n  kind: lock\n  title: x\n  status: done\n---\n"),
        ("---\ntitle: |+\n  a\n\n---\n", "---\ntitle: |+\n  a\n\nstatus: done\n---\n"),
        ("---\nm:\n  status: active\n---\n", "---\nm:\n  status: active\nstatus: done\n---\n"),
        ("---\n{kind: lock, status: active}\n---\n", "---\n{kind: lock, status: done}\n---\n"),
        ('---\n{"status":"active"}\n---\n', '---\n{"status": done}\n---\n'),
        ("---\n{kind: lock}\n---\n", "---\n{status: done, kind: lock}\n---\n"),
        ("---\n{}\n---\nb", "---\n{status: done}\n---\nb"),
        ("---\ntitle: žluťoučký 😀\nstatus: active\n---\n", "---\ntitle: žluťoučký 😀\nstatus: done\n---\n"),
        ("---\nstatus: active\n---\nstatus: active\n---\n", "---\nstatus: done\n---\nstatus: active\n---\n"),
    ],
)
def test_only_the_value_changes(before: str, after: str) -> None:
    """Comments, order, quotes of other values, line ends, byte order mark and body stay, byte for byte."""
    assert change_fields(before.encode(), {"status": "done"}).decode() == after


def test_several_fields_change_at_once() -> None:
    """Each finds its place after the one before it has moved the text."""
    text = b"---\nfires_on: 2026-10-11\nrecurring: daily\n---\n"
    after = change_fields(text, {"fires_on": "2026-10-12", "recurs_day": 31})
    assert after == b"---\nfires_on: 2026-10-12\nrecurring: daily\nrecurs_day: 31\n---\n"


@pytest.mark.parametrize(
    "text",
    [
        "---\nstatus: &s active\nother: *s\n---\n",
        "---\nkind: lock\n...\n---\n",
        "---\nk: &k status\n*k : active\n---\n",
    ],
)
def test_what_cannot_be_changed_in_place_is_refused(text: str) -> None:
    """A rare spelling is told to a person, rather than changed into something else."""
    with pytest.raises(
        DocumentError, match="status cannot be set because of how the front matter is written; set it by hand"
    ):
        change_fields(text.encode(), {"status": "done"})


def test_what_is_no_notice_is_refused() -> None:
    """The sentence is that of the strict reader."""
    with pytest.raises(DocumentError, match="there is no front matter"):
        change_fields(b"status: active\n", {"status": "done"})


@given(st.binary())
def test_no_bytes_break_a_change(raw: bytes) -> None:
    """A file is changed or refused with a sentence, whatever is in it."""
    try:
        after = change_fields(b"---\n" + raw + b"\n---\n" + raw, {"status": "done"})
    except DocumentError:
        return
    assert front_matter(after)[0]["status"] == "done"
    assert after.endswith(raw)
