from __future__ import annotations

import pytest

from brief.core.text.fit_prompt import fit_prompt
from brief.core.text.prompt import render_prompt
from brief.core.text.size import size_in_bytes, utf16_units
from samples import brief, rows, section


def test_with_room() -> None:
    """With room enough the brief is whole."""
    made = brief(section("peers", rows=rows("a", "b")))
    assert fit_prompt(made, 10_000, size_in_bytes) == render_prompt(made)


@pytest.mark.parametrize("measure", [size_in_bytes, utf16_units])
def test_rows_go_first(measure: object) -> None:
    """Rows are left out and counted, then lines from the end; first line and end stay."""
    assert callable(measure)
    made = brief(section("peers", rows=rows(*["漢字" * 9] * 30)))
    whole = measure(render_prompt(made))
    for room in range(200, whole, 97):
        text = fit_prompt(made, room, measure)
        assert measure(text) <= room
        assert (text.splitlines()[0], text.splitlines()[-1]) == ("[brief]", "[/brief]")
        assert "more: majordomus peers list" in text or "left out: " in text


def test_without_room() -> None:
    """Where nothing fits, how much was left out is said all the same."""
    text = fit_prompt(brief(), 1, utf16_units)
    assert text.startswith("[brief]\n- left out: ")
    assert text.endswith("[/brief]\n")
