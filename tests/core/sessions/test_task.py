"""Tasks: a next action that cannot be believed any more is withheld, and never without the reason."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from brief.core.model.errors import UsageError
from brief.core.sessions.task import (
    PATH_LIMIT,
    SCOPE_LIMIT,
    Task,
    believable_next,
    check_scope,
    check_text,
    is_ageing,
)
from samples import NOW, ago

STALE = timedelta(minutes=120)


def task(following: str | None = "run the tests", said: datetime | None = NOW) -> Task:
    """A task whose next action was said then."""
    return Task(episode="e", title="fix login", next_action=following, next_since=said, since=ago(hours=5))


@pytest.mark.parametrize("age", [timedelta(0), timedelta(minutes=119), STALE, timedelta(seconds=-30)])
def test_a_young_next_action_is_shown(age: timedelta) -> None:
    """Up to the limit, and through a clock that is a little off, it is what the session will do."""
    found = believable_next(task(said=NOW - age), NOW, STALE)
    assert (found.text, found.withheld) == ("run the tests", None)


def test_a_stale_next_action_is_withheld_with_the_setting() -> None:
    """Past the limit it is not repeated, and the reason gives its age, the limit and the key that sets it."""
    found = believable_next(task(said=ago(hours=3)), NOW, STALE)
    assert found.text is None
    assert found.withheld == "set 3h ago, and withheld after 120 minutes (session.freshness.stale_minutes)"


def test_a_next_action_from_the_future_is_withheld() -> None:
    """Where a clock was moved nobody knows how old it is."""
    found = believable_next(task(said=NOW + timedelta(hours=2)), NOW, STALE)
    assert (found.text, found.withheld) == (None, "set 2h in the future: a clock was moved")


@pytest.mark.parametrize("unset", [task(None, None), task(None), task(said=None)])
def test_without_a_next_action_nothing_is_withheld(unset: Task) -> None:
    """Nothing set is not the same as something kept back."""
    found = believable_next(unset, NOW, STALE)
    assert (found.text, found.withheld) == (None, None)


@pytest.mark.parametrize(("said", "ageing"), [(ago(minutes=30), False), (ago(minutes=31), True), (None, False)])
def test_an_ageing_next_action_tells_its_age(said: datetime | None, ageing: bool) -> None:
    """Past its fresh minutes its age stands beside it."""
    assert is_ageing(task(said=said), NOW, timedelta(minutes=30)) is ageing


def test_a_title_is_kept_without_the_blanks_around_it() -> None:
    """What counts against the limit is what was said, not the line's end after it."""
    assert check_text("the title", f"  {'x' * 200}\n", 200) == "x" * 200


@pytest.mark.parametrize(
    ("text", "told"), [("", "blank"), (" \n\t", "blank"), ("x" * 201, "201 characters.*at most 200")]
)
def test_a_title_that_says_nothing_or_too_much_is_refused(text: str, told: str) -> None:
    """The sentence names what is meant, how long it is and how long it may be."""
    with pytest.raises(UsageError, match=f"the title .*{told}"):
        check_text("the title", text, 200)


def test_scope_names_each_path_once() -> None:
    """In the order given, also for as many as may be named."""
    assert check_scope(("b", "a", "b")) == ("b", "a")
    assert len(check_scope(tuple(map(str, range(SCOPE_LIMIT))))) == SCOPE_LIMIT


@pytest.mark.parametrize("path", ["", "  ", "a\0b", "x" * (PATH_LIMIT + 1)])
def test_what_is_no_path_is_no_scope(path: str) -> None:
    """A blank, a NUL or a text beyond the limit is refused."""
    with pytest.raises(UsageError, match="is not a path; give paths below the checkout"):
        check_scope(("a", path))


def test_a_scope_of_everything_is_refused() -> None:
    """More paths than can be read are refused, with a way out."""
    with pytest.raises(UsageError, match="51 paths; name at most 50: a folder covers its files"):
        check_scope(tuple(map(str, range(SCOPE_LIMIT + 1))))
