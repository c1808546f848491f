"""A smaller brief: never one that says less than it knows without counting what it left out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brief.core.model.brief import SECTIONS, Brief, Row, Status
from brief.core.model.level import Level
from brief.core.model.wire import from_json, to_json
from brief.core.text.budget import fit_budget, narrow_to
from brief.core.text.page import render_page
from brief.core.text.prompt import render_prompt
from samples import brief, rows, section

FORMS: dict[str, Callable[[Brief], str]] = {"prompt": render_prompt, "page": render_page, "json": to_json}
LOCK = rows("lock on koda", level=Level.HIGH)


def size(text: str) -> int:
    """The bytes of a rendering."""
    return len(text.encode())


def kept(some: Brief) -> dict[str, tuple[str, ...]]:
    """The texts of the rows by section, those that have some."""
    return {each.name: tuple(row.text for row in each.rows) for each in some.sections if each.rows}


def test_no_names_narrow_nothing() -> None:
    """Without a section named, the brief is the one that was composed."""
    some = brief(section("alerts", rows=LOCK))
    assert narrow_to(some, ()) is some


def test_a_section_not_named_keeps_all_but_its_rows_and_data() -> None:
    """Name, status, headline and reason stay, rows and data go and the rows are counted."""
    some = brief(section("peers", Status.PARTIAL, rows=rows("a", "b"), omitted=3), section("alerts", rows=LOCK))
    _, peers, *_, alerts = narrow_to(some, {"alerts"}).sections
    assert (peers.status, peers.headline, peers.reason) == (Status.PARTIAL, "peers partial", "why peers")
    assert (peers.rows, peers.data, peers.omitted) == ((), None, 5)
    assert alerts == some.sections[-1]


def test_a_narrowed_brief_is_still_a_brief() -> None:
    """What was narrowed can be sent and read back, with six sections."""
    some = narrow_to(brief(section("peers", rows=rows("a"))), {"mesh"})
    assert from_json(Brief, to_json(some)) == some
    assert [each.name for each in some.sections] == list(SECTIONS)


def test_least_urgent_rows_go_first() -> None:
    """HIGH outlives NORMAL, whatever the section; of equals the last goes first."""
    fire, lock, *normal = (f"{name} {'x' * 60}" for name in ("fire", "lock", "n1", "n2", "n3"))
    early, late = rows(lock, level=Level.HIGH), rows(fire, level=Level.HIGH)
    some = brief(section("peers", rows=rows(*normal) + late), section("alerts", rows=early))
    steps = [kept(fit_budget(some, limit, render_prompt)) for limit in range(size(render_prompt(some)) + 1)]
    assert [step for at, step in enumerate(steps) if at == 0 or step != steps[at - 1]] == [
        {},
        {"alerts": (lock,)},
        {"peers": (fire,), "alerts": (lock,)},
        *({"peers": (*normal[:count], fire), "alerts": (lock,)} for count in (1, 2, 3)),
    ]


@pytest.mark.parametrize("form", FORMS)
def test_what_fits_whole_stays_whole(form: str) -> None:
    """A brief that fits loses nothing, although the line that counts what is left out is longer than a short row."""
    some = brief(section("state", rows=rows("a", "b")), section("alerts", rows=rows("c")))
    assert fit_budget(some, size(FORMS[form](some)), FORMS[form]) == some


def test_what_cannot_go_stays_over_the_budget() -> None:
    """With one byte to spend, every section still says its name, its status and why it was not read."""
    some = brief(section("peers", Status.UNREAD), section("alerts", rows=LOCK))
    least = render_prompt(fit_budget(some, 1, render_prompt))
    assert "peers (unread): peers unread; why: why peers" in least
    assert "alerts (read): alerts read\n- and 1 more, 1 of them urgent: majordomus alerts list" in least


ROWS = st.lists(st.builds(Row, text=st.text("xé", max_size=60), level=st.sampled_from(Level)), max_size=5).map(tuple)


@settings(max_examples=60)
@given(st.lists(ROWS, min_size=6, max_size=6), st.integers(0, 3_000), st.sampled_from(["prompt", "page"]))
def test_the_most_rows_that_fit_are_kept(each: list[tuple[Row, ...]], limit: int, form: str) -> None:
    """Within the budget wherever that can be, nothing uncounted, and no more urgent row left out for a lesser one."""
    rendered = FORMS[form]
    some = brief(*(section(name, rows=own) for name, own in zip(SECTIONS, each, strict=True)))
    made = fit_budget(some, limit, rendered)
    smallest = fit_budget(some, 0, rendered)
    assert size(rendered(made)) <= limit or made == smallest
    for whole, part in zip(some.sections, made.sections, strict=True):
        assert len(part.rows) + part.omitted == len(whole.rows)
        assert set(part.rows) <= set(whole.rows)
    if size(rendered(some)) <= limit:
        assert made == some
