from __future__ import annotations

from functools import partial

import pytest

from brief.compose import Frame, assemble_brief, make_unread
from brief.core.model.brief import SECTIONS, AlertsSection, AnsweredBy, Brief, PolicyInForce, Repository, Row, Status
from brief.core.model.level import Level
from brief.core.model.section_data import AlertsData, ShownNotice
from brief.core.notices.alerts_block import MOST
from brief.core.policy.names import PolicySource
from brief.core.sessions.start_text import LEAST_BRIEF, keep_briefed
from brief.core.sessions.start_text import start_text as composed
from brief.core.wakes.wake_text import wake_text
from notice_helpers import at, notice, shown

NOW = at("2026-10-11 09:00", "UTC")
PLACE = Repository(root="/shop", common_dir="/shop/.git", primary="/shop", branch="main", head="a" * 40, detached=False)
LOCK = {"kind": "lock", "component": "koda", "priority": 9, "created": "2026-10-11"}


start_text = partial(composed, is_woken=False)
LAST = keep_briefed(20, is_woken=False)


def units(text: str) -> int:
    """The characters of a text as a client in JavaScript counts them."""
    return len(text.encode("utf-16-le")) // 2


def brief(
    *,
    rows: int = 0,
    text: str = "row",
    notes: int = 0,
    reason: str = "nobody asked",
    minutes: int = 20,
    data: AlertsData | None = None,
) -> Brief:
    """A brief in which nothing but the alerts was read, those with so many rows."""
    sections = [make_unread(name, reason) for name in SECTIONS if name != "alerts"]
    alerts = AlertsSection(
        status=Status.READ,
        headline=f"{rows} notices",
        rows=tuple(Row(text=f"{text} {at}", level=Level.HIGH) for at in range(rows)),
        data=data or AlertsData(shown=(), hidden=0, unparsable=()),
        as_of=NOW,
    )
    by = AnsweredBy(kind="self", pid=1, root="/shop", epoch=None, version="0", reason="no server")
    told = tuple(f"note {at} {text * 100}" for at in range(notes))
    none = PolicyInForce(source=PolicySource.DEFAULTS, path=None)
    frame = Frame(by, PLACE, interval_minutes=minutes, on_interval_reason="off", policy=none, notes=told)
    return assemble_brief((*sections, alerts), frame, NOW)


def test_most_urgent_first() -> None:
    """The alerts stand before the brief, whose rows do not say them again, and both before how to keep briefed."""
    text = start_text(shown(notice("a", "# Hands off", **LOCK)), brief(rows=3, text="Hands off"), 4_000)
    places = [text.index(part) for part in ("[alerts]", "[/alerts]", "[brief]", "[/brief]", "Keep briefed")]
    assert places == sorted(places)
    assert text.count("Hands off") == 1
    assert "- and 3 more, 3 of them urgent: majordomus alerts list\n" in text
    assert text.endswith(LAST)


def test_only_what_the_block_leaves_out_is_counted() -> None:
    """Below a block that holds every notice nothing is said to be left out; what it does not hold is counted."""
    told = tuple(
        ShownNotice(slug=slug, kind="lock", priority=9, title="Hands off", countdown=None, level=Level.HIGH)
        for slug in ("a", "b")
    )
    whole = brief(rows=2, data=AlertsData(shown=told, hidden=0, unparsable=()))
    both = shown(notice("a", "# Hands off", **LOCK), notice("b", "# Hands off", **LOCK))
    assert "more: majordomus alerts list" not in start_text(both, whole, 4_000)
    assert "- and 1 more, 1 of them urgent: majordomus alerts list\n" in start_text(both[:1], whole, 4_000)


def test_an_alert_of_the_block_is_told_once() -> None:
    """What stands in the block is neither among those that are left out nor counted as urgent a second time."""
    lock = ShownNotice(slug="a", kind="lock", priority=9, title="Hands off", countdown=None, level=Level.HIGH)
    tea = ShownNotice(slug="tea", kind="courtesy", priority=1, title="Tea", countdown=None)
    plain = brief(rows=1, data=AlertsData(shown=(lock, tea), hidden=0, unparsable=()))
    alerts = plain.sections[-1].replace(
        headline="2 notices", rows=(*plain.sections[-1].rows, Row(text="courtesy: Tea (tea)"))
    )
    whole = plain.replace(sections=(*plain.sections[:-1], alerts))
    block = shown(notice("a", "# Hands off", **LOCK))
    for told in (start_text(block, whole, 4_000), wake_text(whole, block)):
        assert "alerts (read): 2 notices, 1 of them listed above\n- and 1 more: majordomus alerts list\n" in told


def test_no_notices() -> None:
    """Without notices the brief and the last lines stand alone."""
    text = start_text([], brief(), 4_000)
    assert text.startswith("[brief]\n")
    assert text.endswith(LAST)


@pytest.mark.parametrize(
    ("minutes", "told"), [(1, "every minute"), (20, "every 20 minutes"), (1_440, "every 1440 min")]
)
def test_how_to_keep_briefed(minutes: int, told: str) -> None:
    """The last lines name the command and the policy's own interval."""
    end = start_text([], brief(minutes=minutes), 4_000)[-700:]
    assert "majordomus brief" in end
    assert told in end


@pytest.mark.parametrize("block_characters", [500, 4_000, 10_000])
@pytest.mark.parametrize("notices", [0, 1, 500])
@pytest.mark.parametrize("notes", [0, 1, 300])
@pytest.mark.parametrize("text", ["x", "ž", "🔔", "漢"])
def test_never_more_than_a_client_takes(block_characters: int, notices: int, notes: int, text: str) -> None:
    """Whatever there is to tell: at most 10,000 characters, every block closed, the last lines whole."""
    made = [notice(f"n{at}", f"# {text * 200}\n{text * 300}\n", **LOCK) for at in range(notices)]
    whole = start_text(shown(*made), brief(rows=50, text=text, notes=notes, reason=text * 600), block_characters)
    assert units(whole) <= MOST
    assert whole.endswith("[/brief]\n" + LAST)
    assert whole.count("[alerts]\n") == whole.count("[/alerts]\n") == bool(notices)
    assert whole.count("[brief]\n") == whole.count("[/brief]\n") == 1


def test_brief_keeps_its_room() -> None:
    """However many alerts there are, every section of the brief has its line."""
    made = [notice(f"n{at}", "# Hands off\nbody\n", **LOCK) for at in range(500)]
    text = start_text(shown(*made), brief(), 10_000)
    assert all(f"\n{name} (" in text for name in SECTIONS)
    assert units(text) > MOST - LEAST_BRIEF


def test_what_is_left_out_is_counted() -> None:
    """A brief that is too long without any row loses its last lines, and says how many."""
    text = start_text([], brief(notes=100, text="words "), 4_000)
    kept = sum(line.startswith("note: ") for line in text.splitlines())
    assert 0 < kept < 100
    assert f"- left out: {100 - kept} lines; see majordomus brief\n[/brief]\n" in text


def test_who_is_woken_is_not_asked_to_report() -> None:
    """A session that will be woken schedules nothing of its own; one that will not is asked to."""
    woken, alone = (composed([], brief(), 4_000, is_woken=is_woken) for is_woken in (True, False))
    assert "this session is woken with its brief every 20 minutes" in woken
    assert "schedule" not in woken
    assert "every 20 minutes, report to the user what `majordomus brief` prints" in alone
    assert "schedule that report now" in alone
    assert all("majordomus task set" in text for text in (woken, alone))
