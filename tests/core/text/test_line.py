from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from brief.core.model.brief import (
    AlertsSection,
    DeriveSection,
    IntegrationSection,
    MeshSection,
    PeersSection,
    Row,
    Section,
    StateSection,
    Status,
)
from brief.core.model.level import Level
from brief.core.model.section_data import (
    AlertsData,
    DeriveData,
    IntegrationData,
    MeshData,
    PeersData,
    QueueEntry,
    ShownNotice,
    StateData,
    TaskFact,
)
from brief.core.text.line import Segment, compose_line, count_cells, fit, join_line, segments_of
from brief.core.text.sanitize import clean

NOW = datetime(2026, 10, 11, 9, 0, tzinfo=UTC)
READ: dict[str, Any] = {"status": Status.READ, "headline": "", "as_of": NOW}
PARTIAL: dict[str, Any] = READ | {"status": Status.PARTIAL, "reason": "one was silent"}
UNREAD: dict[str, Any] = {"status": Status.UNREAD, "headline": "", "reason": "no server"}
UNDECLARED: dict[str, Any] = UNREAD | {"status": Status.UNDECLARED}
LOCK = Row(text="lock on koda", level=Level.HIGH)

CORPUS = (
    "plain words of a line",
    "日本語のタイトルはとても長い",
    "👨‍👩‍👧‍👦👩‍💻👋🏽 family at work",
    "🇨🇿🇩🇪🇯🇵🇺🇳 flags",
    "e\u0301a\u0308 cafe\u0301 nai\u0308ve",
    "नमस्ते हिन्दी क्षत्रिय",
    "한국어 각",
    "1️⃣2️⃣ ❤️ ☎︎ ✈️ ▲ ·",
    "ภาษาไทย กำลัง",
    "mixed 日👩‍💻e\u0301🇨🇿 end",
)
dirty = st.one_of(st.text(), st.lists(st.sampled_from([char for words in CORPUS for char in words])).map("".join))


def state(title: str | None = "fix login", /, **status: Any) -> StateSection:
    """A state section whose task has gone on for twelve minutes."""
    task = title and TaskFact(
        title=title, scope=(), since=NOW - timedelta(minutes=12), next=None, next_since=None, next_withheld=None
    )
    return StateSection(data=StateData(episode=None, open=1, task=task or None), **(status or READ))


def peers(count: int, /, **status: Any) -> PeersSection:
    """A peers section."""
    return PeersSection(data=PeersData(count=count, boards=(), peers=()), **(status or READ))


def mesh(links: int) -> MeshSection:
    """A mesh section."""
    return MeshSection(data=MeshData(links=({},) * links, journal={}), **READ)


def queue(waiting: int, following: str | None = None, number: int | None = None) -> IntegrationSection:
    """An integration section that knows one branch."""
    entry = QueueEntry(
        name="topic/login",
        number=number,
        lane="branch",
        disposition="ready",
        conflicts_with=None,
        ahead=1,
        behind=0,
        committed_at=None,
        worktree=None,
    )
    return IntegrationSection(
        data=IntegrationData(open=waiting, next=following, observed_at=NOW, queue=(entry,)), **READ
    )


def derive(state: Any) -> DeriveSection:
    """A derive section."""
    return DeriveSection(data=DeriveData(state=state, holder=None, waiting=0), **READ)


def alerts(count: int, *rows: Row) -> AlertsSection:
    """An alerts section with rows."""
    shown = ShownNotice(slug="a", kind="alert", priority=5, title="a", countdown=None)
    return AlertsSection(data=AlertsData(shown=(shown,) * count, hidden=0, unparsable=()), rows=rows, **READ)


WHOLE: tuple[Section, ...] = (
    state(),
    peers(3),
    mesh(2),
    queue(4, "topic/login", 41),
    derive("free"),
    alerts(2, Row(text="a courtesy"), LOCK),
)


def test_the_widest_form_says_all() -> None:
    """With no width given, the most urgent row, the task and every section stand in one line."""
    assert compose_line(WHOLE, NOW) == (
        "▲1 HIGH lock on koda · fix login 12m · peers 3 · mesh 2 · queue 4, next #41 · derive free · alerts 2"
    )


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (
            200,
            "▲1 HIGH lock on koda · fix login 12m · peers 3 · mesh 2 · queue 4, next #41 · derive free · alerts 2",
        ),
        (99, "▲1 HIGH lock on koda · fix login 12m · peers 3 · mesh 2 · queue 4, next #41 · alerts 2"),
        (81, "▲1 HIGH lock on koda · fix login 12m · peers 3 · queue 4, next #41 · alerts 2"),
        (66, "▲1 HIGH lock on koda · fix login 12m · peers 3 · alerts 2"),
        (51, "▲1 HIGH lock on koda · fix login 12m · alerts 2"),
        (41, "▲1 HIGH lock on koda · fix login 12m"),
        (26, "▲1 HIGH lock on koda"),
        (16, "▲1 HIGH lock on…"),
        (8, "▲1 HIGH…"),
        (7, "▲1 HIGH"),
        (5, "▲1 H…"),
        (1, "…"),
        (0, ""),
        (-1, ""),
    ],
)
def test_narrower_the_least_urgent_goes_first(columns: int, shown: str) -> None:
    """Whole segments go, the least urgent first; then the text of the row is cut; the level stays longest."""
    assert compose_line(WHOLE, NOW, columns) == shown


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (None, "▲1 HIGH lock on koda by docs until 23:31 · fix login 12m · peers 3 · derive free"),
        (79, "▲1 HIGH lock on koda by docs until 23:31 · fix login 12m · peers 3"),
        (66, "▲1 HIGH lock on koda by docs until 23:31 · fix login 12m · peers 3"),
        (65, "▲1 HIGH lock on koda by docs · fix login 12m · peers 3"),
        (53, "▲1 HIGH lock on koda · fix login 12m · peers 3"),
        (40, "▲1 HIGH lock on koda · fix login 12m"),
        (20, "▲1 HIGH lock on koda"),
    ],
)
def test_who_and_until_when_as_width_allows(columns: int | None, shown: str) -> None:
    """What reports nothing goes first, then until when, then who; the task and the counts stay longer."""
    row = Row(text="a lock", level=Level.HIGH, pin="lock on koda", pin_details=("by docs", "until 23:31"))
    sections = (state(), peers(3), derive("free"), AlertsSection(**UNDECLARED | {"rows": (row,)}))
    assert compose_line(sections, NOW, columns) == shown


def test_what_was_not_read_outlives_what_is_there() -> None:
    """An unread mark stays where a count has to go, and a count where nothing is there goes before both."""
    sections = (state(), PeersSection(**UNREAD), queue(0), derive("free"), alerts(2))
    assert compose_line(sections, NOW, 32) == "fix login 12m · peers ?"
    assert compose_line(sections, NOW, 40) == "fix login 12m · peers ? · alerts 2"
    assert compose_line(sections, NOW, 20) == "peers ?"
    assert compose_line(sections, NOW, 5) == "peer…"


@pytest.mark.parametrize(
    ("section", "shown"),
    [
        (state(), "fix login 12m"),
        (state("  \u202e\x1b[31mmend\nit "), "mend it 12m"),
        (state("\u200b"), "task 12m"),
        (state("日" * 30), "日" * 19 + "… 12m"),
        (state(None), ""),
        (state(None, **PARTIAL), "state…?"),
        (state("fix", **PARTIAL), "fix 12m…?"),
        (StateSection(**UNREAD), "state ?"),
        (peers(0), "peers 0"),
        (peers(3, **PARTIAL), "peers 3…?"),
        (PeersSection(**UNREAD), "peers ?"),
        (PeersSection(**PARTIAL), "peers ?"),
        (MeshSection(**UNDECLARED), ""),
        (mesh(2), "mesh 2"),
        (queue(0), "queue 0"),
        (queue(4, "topic/login", 41), "queue 4, next #41"),
        (queue(4, "topic/login"), "queue 4, next topic/login"),
        (queue(4, "else\u202ewhere"), "queue 4, next elsewhere"),
        (IntegrationSection(**UNREAD), "queue ?"),
        (derive("held"), "derive held"),
        (derive("stale"), "derive stale"),
        (alerts(2), "alerts 2"),
        (AlertsSection(**UNREAD), "alerts ?"),
    ],
)
def test_each_section_has_its_words(section: Section, shown: str) -> None:
    """A section that was read says its fact, an unread one `?`, a partial one `…?`, an undeclared one nothing."""
    assert compose_line([section], NOW) == shown


def test_the_urgency_of_segments_is_a_strict_order() -> None:
    """No two sections share an urgency, so that what goes first never depends on chance."""
    assert len({segment.urgency for segment in segments_of(WHOLE, NOW)}) == 6


def test_the_first_piece_counts_all_and_tells_the_highest() -> None:
    """The count is of all rows above NORMAL; the text is that of the first of them."""
    rows = (Row(text="quiet"), LOCK, Row(text="two", level=Level.HIGH))
    assert join_line(rows, [], None) == "▲2 HIGH lock on koda"
    assert join_line(rows[:2], [Segment("a", 1)], None) == "▲1 HIGH lock on koda · a"
    assert join_line((Row(text="\u200b", level=Level.HIGH),), [], None) == "▲1 HIGH"


def test_of_equal_segments_the_last_goes_first() -> None:
    """Among segments of one urgency the order of the line decides."""
    assert join_line((), [Segment("first", 1), Segment("second", 1)], 6) == "first"


@pytest.mark.parametrize("text", CORPUS)
def test_fit_never_splits_a_grapheme(text: str) -> None:
    """At any width the kept part is a run of whole clusters of the text, within the width, and as long as can be."""
    clusters = list(iter_graphemes(text))
    for columns in range(1, 201):
        shown = fit(text, columns)
        assert count_cells(shown) <= columns
        if shown != text:
            kept = list(iter_graphemes(shown.removesuffix("…")))
            assert kept == clusters[: len(kept)]
            assert count_cells("".join(clusters[: len(kept) + 2])) >= columns


@given(dirty, st.integers(-1, 200))
def test_any_text_fits_any_width(text: str, columns: int) -> None:
    """Whatever was cleaned fits, and a text that fits already is left as it is."""
    cleaned = clean(text)
    shown = fit(cleaned, columns)
    assert count_cells(shown) <= max(0, columns)
    assert shown == cleaned or count_cells(cleaned) > columns


@given(st.lists(dirty), st.text(), st.integers(0, 200))
def test_any_line_fits_any_width(titles: list[str], pinned: str, columns: int) -> None:
    """Rows and titles of any text give one line that is no wider than asked."""
    sections = (*(state(title or None) for title in titles), alerts(1, Row(text=pinned, level=Level.HIGH)))
    shown = compose_line(sections, NOW, columns)
    assert count_cells(shown) <= columns
    assert len(shown.splitlines()) <= 1


def test_neighbours_that_change_widths_still_fit() -> None:
    """A cluster that is wider among others than alone does not push the line over its width."""
    shown = fit("\u0372\u0372\u1163\u093f\u0372", 3)
    assert count_cells(shown) <= 3
    assert shown.endswith("…")


@pytest.mark.parametrize(
    ("wakes", "told"), [(None, []), ("paused", ["wakes paused"]), ("limit", ["wake limit reached"]), ("stopped", [])]
)
def test_what_keeps_a_session_from_being_woken(wakes: Any, told: list[str]) -> None:
    """Paused wakes and a limit that was reached are said, unless there is no room for them."""
    held = StateSection(data=StateData(episode=None, open=1, task=None, wakes=wakes), **READ)
    assert [segment.text for segment in segments_of([held], NOW)] == told
    assert compose_line([held, peers(3)], NOW, len("peers 3")) == "peers 3"
