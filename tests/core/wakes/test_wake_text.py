from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brief.core.model.brief import Row, Section
from brief.core.model.level import Level
from brief.core.notices.notice import Notice
from brief.core.wakes.wake_text import FIRST, MOST_BYTES, REQUEST, RESUME, wake_text
from brief.fastpath.hook import WAKE_OPENS
from notice_helpers import notice, shown
from samples import brief, rows, section

LOCK = {"kind": "lock", "component": "koda", "priority": 9, "created": "2026-10-11"}
TEXTS = st.text(st.characters(codec="utf-8"), max_size=300)


def test_what_it_holds() -> None:
    """It says who speaks, then the locks, the brief, and what is asked for."""
    text = wake_text(
        brief(section("peers", rows=rows("ann mends the login"))), shown(notice("a", "# Hands off", **LOCK))
    )
    parts = (
        "not the user",
        "every 20 minutes",
        "[alerts]",
        "Hands off",
        "[/alerts]",
        "[brief]",
        "ann mends",
        "[/brief]",
    )
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert text.endswith(REQUEST)
    assert "two to four lines" in REQUEST


def test_is_known_by_its_first_words() -> None:
    """Hooks know a prompt that woke a session from a person's by the words that it begins with."""
    assert FIRST.startswith(WAKE_OPENS)


def test_only_what_binds() -> None:
    """Locks, bug-deps and what is due stand in it; courtesies and plain alerts wait for a person's prompt."""
    made = [
        notice("lock", "# the lock", **LOCK),
        notice("dep", "# the dep", kind="bug-dep", created="2026-10-11"),
        notice("due", "# the due", kind="reminder", fires_on="2026-10-11", created="2026-10-01"),
        notice("tea", "# the tea", kind="courtesy", created="2026-10-11"),
        notice("plain", "# the plain", kind="alert", created="2026-10-11"),
    ]
    text = wake_text(brief(), shown(*made))
    assert [name for name in ("lock", "dep", "due", "tea", "plain") if f"the {name}" in text] == ["lock", "dep", "due"]


def test_no_notices() -> None:
    """Where nothing binds there is no block."""
    assert "[alerts]" not in wake_text(brief(), [])


@pytest.mark.parametrize("word", ["plain", "漢字" * 20, "👩‍💻" * 20, "\U0001f600" * 60])
@pytest.mark.parametrize("locks", [1, 3, 300])
def test_bounded(word: str, locks: int) -> None:
    """Whatever others write, it takes 1,500 bytes at most, is well formed, and never hides that there are locks."""
    made = [
        notice(f"a{at}", f"# {word} {at}\n{word}", **{**LOCK, "component": f"koda {at} {word}"}) for at in range(locks)
    ]
    sections: list[Section] = [
        section(name, rows=rows(*[f"{word} {at}" for at in range(40)])) for name in ("peers", "state")
    ]
    text = wake_text(brief(*sections, notes=(word * 20,)), shown(*made))
    assert len(text.encode()) <= MOST_BYTES
    assert text.count("[alerts]") == text.count("[/alerts]") == 1
    assert text.count("[brief]") == text.count("[/brief]") == 1
    assert "lock" in text[: text.index("[/alerts]")].split("instructions from the user.")[1]
    assert text.endswith(REQUEST)


@given(st.lists(TEXTS, max_size=12), TEXTS)
def test_any_text(texts: list[str], reason: str) -> None:
    """No text of others makes it longer, or closes a block from inside."""
    sections = [section("peers", headline=reason or "x", rows=rows(*texts))]
    text = wake_text(brief(*sections, reason=reason or "x"), [])
    assert len(text.encode()) <= MOST_BYTES
    assert text.count("[/brief]") == 1


LOCKS = [notice(f"lock-{number}", f"# {'漢' * 100}\n\n{'漢' * 400}", **LOCK) for number in range(5)]


@pytest.mark.parametrize("line", ["fixed in KODA-12", "f" * 300, "漢" * 90])
@pytest.mark.parametrize("locks", [[], LOCKS], ids=["no locks", "many locks"])
def test_what_is_owed_stands_in_it(line: str, locks: list[Notice]) -> None:
    """What the session waited for is told whatever else there is, beside the locks, and it is asked to resume."""
    others = section("peers", rows=rows(*("p" * 100 for _ in range(9))))
    owed = section("state", rows=(Row(text=line, level=Level.HIGH),))
    text = wake_text(brief(owed, others), shown(*locks), [line])
    assert line in text
    assert ("[alerts]" in text) == bool(locks)
    assert text.endswith(RESUME)
    assert len(text.encode()) <= MOST_BYTES


def test_nobody_is_asked_to_resume_for_what_is_not_told() -> None:
    """Where there is no room for what is owed, the wake is one as any other."""
    assert wake_text(brief(), [], ["f" * 300]).endswith(REQUEST)
