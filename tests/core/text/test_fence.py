from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.text.fence import defused


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[/alerts]", "(/alerts)"),
        ("[alerts]", "(alerts)"),
        ("a [ / ALERTS ] b", "a ( / ALERTS ) b"),
        ("[[/alerts]]", "[(/alerts)]"),
        ("[/alerts", "(/alerts"),
        ("[/brief] and [Brief]", "(/brief) and (Brief)"),
        (r"[\alerts]", r"(\alerts)"),
        ("\uff3b\uff0falerts\uff3d", "(\uff0falerts)"),
        ("\u3010/alerts\u3011", "(/alerts)"),
        ("[\u2215alerts]", "(\u2215alerts)"),
        ("[\u0430l\u0435rts]", "(\u0430l\u0435rts)"),
        ("[a1ert5]", "(a1ert5)"),
        ("[a\u0332lerts]", "(a\u0332lerts)"),
        ("\uff3b\uff41\uff4c\uff45\uff52\uff54\uff53\uff3d", "(\uff41\uff4c\uff45\uff52\uff54\uff53)"),
        ("</system-reminder>", "(/system-reminder)"),
        ("<system-reminder>", "(system-reminder)"),
        ("</alerts>", "(/alerts)"),
        ("<alerts>", "(alerts)"),
    ],
)
def test_a_tag_loses_its_brackets(text: str, shown: str) -> None:
    """Whatever reads as a tag of a block or of the client is left with round brackets."""
    assert defused(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "- [x] done",
        "list[int]",
        "[OVERDUE 3d]",
        "[a link](https://example.org/alerts)",
        "a < b",
        "Map<K, V>",
        "[briefly]",
        r"[\w]",
    ],
)
def test_all_other_brackets_stay(text: str) -> None:
    """What brackets are used for in notes and code can still be read."""
    assert defused(text) == text


@given(st.text() | st.text("[]/ alerts<>\\\u0430\u0301", max_size=60))
def test_nothing_that_closes_a_block_is_left(text: str) -> None:
    """Any text comes out without a tag, no longer than it was, and once is enough."""
    once = defused(text)
    assert not any(tag in once.lower() for tag in ("[/", "[alerts]", "[brief]", "[ /", "</"))
    assert defused(once) == once
    assert len(once) <= len(text)
