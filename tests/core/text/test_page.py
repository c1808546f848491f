"""The page for a person: a rendering of the JSON, never more."""

from __future__ import annotations

from typing import Any

import pytest

from brief.core.model.brief import SECTIONS, Brief, Section, Status
from brief.core.model.level import Level
from brief.core.model.section_data import StateData
from brief.core.text.line import count_cells
from brief.core.text.page import describe_head, render_page, section_page
from samples import brief, rows, section


def test_a_page_says_who_composed_what_and_when() -> None:
    """The line, the checkout with branch and commit, and the rhythm it comes in; who composed it for whoever asks."""
    top = [brief().line, "", "/r  on main at c0ffeec0f"]
    rhythm = "Not briefed on an interval: session.brief_on_interval is not set"
    assert render_page(brief()).splitlines()[:4] == [*top, rhythm]
    composer = "composed by the server of this repository (pid 7, epoch 5, version 0)"
    assert render_page(brief(), verbose=True).splitlines()[:5] == [*top, composer, rhythm]


def test_a_page_on_an_interval_says_how_often() -> None:
    """Where the session that asks is woken, the minutes stand in its place."""
    woken = section("state", data=StateData(episode=None, open=1, task=None, woken=True))
    assert "\na brief every 20 minutes\n" in render_page(on_interval(woken))
    assert "\na brief every minute\n" in render_page(on_interval(woken).replace(interval_minutes=1))


def test_a_page_promises_no_brief_where_nobody_is_woken() -> None:
    """A switch that is on wakes nobody whose client has no mod or hook, and no session that is paused."""
    told = render_page(on_interval(section("state"))).splitlines()
    assert "The policy asks for a brief every 20 minutes; majordomus wake list shows which sessions get it." in told


def on_interval(state: Section) -> Brief:
    """A brief with that state, where the policy's switch is on."""
    return brief(state).replace(on_interval=True, on_interval_reason=None)


def test_a_page_of_a_command_alone_says_why() -> None:
    """Where no server composed it, the reason stands at the top."""
    assert "composed by this command alone: no server runs here" in render_page(brief(reason="no server runs here"))


@pytest.mark.parametrize("status", Status)
def test_every_section_says_whether_it_was_read(status: Status) -> None:
    """Name, status and headline on one line, and under it why not all was read."""
    told = render_page(brief(*(section(name, status) for name in SECTIONS)))
    for name in SECTIONS:
        assert f"{name:<11}  {status:<10}  {name} {status}" in told
        assert (f"why: why {name}\n" in told) is (status is not Status.READ)


def test_rows_stand_under_their_section_with_their_level() -> None:
    """A row above NORMAL is marked with its level; what was left out is counted with the command that shows it."""
    told = section_page(section("alerts", rows=rows("a") + rows("b", level=Level.HIGH), omitted=4))
    assert told.splitlines()[1:] == [
        "             - a",
        "             ▲ HIGH b",
        "             and 4 more: majordomus alerts list",
    ]


def test_what_the_reason_says_is_no_row_as_well() -> None:
    """A row that is a sentence of the reason is left out; the others stay."""
    told = section_page(
        section(
            "peers",
            Status.PARTIAL,
            reason="a hangs; it is asked; b hangs",
            rows=rows("a hangs; it is asked") + rows("c"),
        )
    )
    assert told.splitlines()[1:] == ["             why: a hangs; it is asked; b hangs", "             - c"]


def test_a_page_ends_with_what_was_not_read() -> None:
    """Gaps are named at the end, after the notes; what is not set up is no gap, and without one nothing is said."""
    gaps = brief(section("peers", Status.UNREAD), section("mesh", Status.UNDECLARED), notes=("the policy is odd",))
    assert render_page(gaps).splitlines()[-2:] == [
        "note: the policy is odd",
        "Not read in full: peers (unread). Unread does not mean empty: nobody was asked.",
    ]
    assert render_page(brief()).splitlines()[-1].startswith("alerts ")


def test_chosen_sections_stand_alone() -> None:
    """Without line, head, notes and closing sentence, in the order of every brief."""
    text = render_page(brief(section("peers", Status.UNREAD), notes=("odd",)), sections=("peers", "state"))
    assert [line.split()[0] for line in text.splitlines()] == ["state", "peers", "why:"]


@pytest.mark.parametrize("columns", [0, 1, 20, 40, 80])
def test_nothing_of_a_page_is_lost(columns: int) -> None:
    """Whatever the width, every word stands there; where one fits at all no line is wider, in terminal cells."""
    wide = brief(section("peers", rows=rows("漢字 " * 60)))
    for told, whole in (
        (render_page(wide, columns), render_page(wide)),
        (section_page(wide.sections[1], columns), section_page(wide.sections[1])),
    ):
        assert told.split() == whole.split()
        assert columns < 40 or max(map(count_cells, told.splitlines())) <= columns


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({}, "on main at c0ffeec0f"),
        ({"head": None}, "on main with no commit yet"),
        ({"branch": None, "detached": True}, "detached at c0ffeec0f"),
        ({"branch": "a\x1b]0;x\x07b\u202e"}, "on ab at c0ffeec0f"),
    ],
)
def test_where_a_checkout_stands(place: dict[str, Any], told: str) -> None:
    """Branch and commit in words: unborn, detached, and with a branch whose name would steer the terminal."""
    assert describe_head(brief(**place)) == told


def test_nothing_on_a_page_steers_the_terminal() -> None:
    """Reasons and paths are other people's text and are shown cleaned."""
    hostile = "x\x1b[2J\u202e\ny"
    told = render_page(brief(section("peers", Status.UNREAD, reason=hostile), reason=hostile, root=f"/r{hostile}"))
    assert told.replace("\n", "").isprintable()
    assert "\u202e" not in told
