"""Text for a terminal of a given width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.text.line import count_cells
from brief.core.text.wrap import LEAST_COLUMNS, wrap_text

ROW = "             - shop-login, busy: mend the login (claude-code 5d0c8f5e, on login); writes in src/login\n"


def test_a_row_goes_on_below_its_first_word() -> None:
    """A line that is too wide is broken between words, the rest under its text; others stay as they are."""
    assert wrap_text("peers\n" + ROW, 60).splitlines() == [
        "peers",
        "             - shop-login, busy: mend the login (claude-code",
        "               5d0c8f5e, on login); writes in src/login",
    ]


def test_a_word_is_never_broken() -> None:
    """A path that is wider than the terminal stays whole, so that it can be copied."""
    path = "/" + "a" * 100
    assert path in wrap_text(f"in {path} on main\n", 60).splitlines()[1]


@pytest.mark.parametrize("columns", [0, 1, LEAST_COLUMNS - 1])
def test_too_narrow(columns: int) -> None:
    """Where the indent would leave no room the terminal breaks the lines itself."""
    assert wrap_text(ROW, columns) == ROW


@given(st.lists(st.text("ab漢ž ", max_size=12), max_size=30), st.integers(LEAST_COLUMNS, 120))
def test_nothing_is_lost(words: list[str], columns: int) -> None:
    """Whatever the words and the width: the same words in the same order, and no line wider than asked."""
    text = " ".join(words)
    told = wrap_text(text + "\n", columns)
    assert told.split() == text.split()
    assert max(map(count_cells, told.splitlines())) <= max(columns, *map(count_cells, text.split()), 0) + 2
