from __future__ import annotations

from typing import Any

import pytest

from brief.core.model.errors import StoreError
from brief.handlers.alert_commands import AddInputs, NoticeInputs, add_alert, end_alert
from brief.handlers.briefs import BriefInputs, brief_session, brief_text
from brief.sessions import follow_ups
from brief.support import ttl_cache
from repo_fixture import ANN, BOB, Place

LINE = "fixed in KODA-12 on koda: update and resume (Dates are off)"


@pytest.fixture(autouse=True)
def _anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compose every brief anew."""
    monkeypatch.setattr(ttl_cache, "LIFETIME_SECONDS", 0.0)


def wait_for(place: Place, session: str | None = ANN, **more: str) -> str:
    """Place a bug-dep; its slug."""
    given = {"kind": "bug-dep", "title": "Dates are off", "component": "koda", "ticket": "KODA-12", "session": session}
    return place.call(add_alert, AddInputs, **{**given, **more}).slug


def end(place: Place, slug: str, **more: str) -> str:
    """Set a bug-dep to done, and return the sentence about its recipient."""
    return place.call(end_alert, NoticeInputs, slug=slug, **more).detail or ""


def brief(place: Place, session: str | None = ANN, **form: Any) -> str:
    """The text that a session reads."""
    return brief_text(place.call(brief_session, BriefInputs, session=session, **{"format": "text", **form}))


@pytest.mark.parametrize("form", ["text", "json", "prompt"])
def test_told_once_in_every_form(place: Place, form: str) -> None:
    """The first brief that a session reads says it, in whatever form, and the next one does not."""
    place.hook("session-start")
    assert end(place, wait_for(place)) == f"session {ANN} will be told in its next brief"
    assert LINE not in brief(place, BOB, format=form)
    assert [LINE in brief(place, format=form) for _ in range(2)] == [True, False]


@pytest.mark.parametrize(
    "narrow",
    [{"format": "line"}, {"section": ("alerts",)}, {"budget": 1}, {"section": ("peers",), "format": "json"}],
    ids=str,
)
def test_not_used_up_by_what_does_not_show_it(place: Place, narrow: dict[str, Any]) -> None:
    """The line, another section, or a budget without the row does not count as delivery of the follow-up."""
    place.hook("session-start")
    end(place, wait_for(place))
    assert LINE not in brief(place, **narrow)
    assert [LINE in brief(place) for _ in range(2)] == [True, False]


def test_line_says_that_something_waits(place: Place) -> None:
    """The one line pins that what the session waits for is done, until it has read what."""
    place.hook("session-start")
    end(place, wait_for(place))
    assert ["what you wait for is done" in brief(place, format="line") for _ in range(2)] == [True, True]
    brief(place)
    assert "what you wait for is done" not in brief(place, format="line")


def test_what_comes_while_a_brief_is_composed(place: Place) -> None:
    """Only a follow-up whose line was in the text counts as delivered."""
    place.hook("session-start")
    end(place, wait_for(place))
    later = place.board.follow_up(ANN, str(place.lab.repo), "another", place.clock.now)
    place.service.mark_delivered(ANN, f"- {LINE}\n")
    assert place.board.follow_ups(ANN) == (later,)


def test_successor_in_its_checkout(place: Place) -> None:
    """If the session is gone, the next one of its checkout gets the follow-up, not one where the bug-dep was ended."""
    topic = str(place.lab.worktree("topic"))
    place.hook("session-start", session=ANN, root=topic)
    place.hook("session-start", session=BOB)
    slug = wait_for(place)
    place.hook("session-end", session=ANN, root=topic)
    assert end(place, slug, session=BOB) == f"the next session of {topic} will be told in its brief"
    assert LINE not in place.hook("session-start", session=BOB)
    cid = "33333333-3333-4333-8333-333333333333"
    starts = [place.hook("session-start", session=cid, root=topic) for _ in range(2)]
    assert [LINE in start for start in starts] == [True, False]


def test_session_that_was_never_open(place: Place) -> None:
    """A bug-dep records where it was placed, so that a session there gets the follow-up even if none was open."""
    topic = str(place.lab.worktree("topic"))
    place.hook("session-start", session=BOB)
    slug = wait_for(place, root=topic)
    assert end(place, slug, session=BOB) == f"the next session of {topic} will be told in its brief"
    assert LINE not in brief(place, BOB)
    place.hook("stop")
    assert LINE in place.hook("session-start", session=ANN, root=topic)


def test_nobody_waits(place: Place) -> None:
    """For a bug-dep written by hand that names neither session nor checkout, no follow-up is queued."""
    place.put("by-hand", kind="bug-dep", checkout="[a list]")
    assert end(place, "by-hand") == "nobody will be told, since it names no waiting session"
    place.put("by-hand-too", kind="bug-dep", session_id=BOB, checkout="[a list]")
    assert end(place, "by-hand-too") == f"the next session of {place.lab.repo} will be told in its brief"


def test_only_what_is_done_now_tells(place: Place) -> None:
    """If a bug-dep is set to done again, or an alert that is not a bug-dep, no second follow-up is queued."""
    place.hook("session-start")
    slug = wait_for(place)
    end(place, slug)
    brief(place)
    assert place.call(end_alert, NoticeInputs, slug=slug).did == "was done"
    place.put("other", kind="alert", session_id=ANN)
    assert end(place, "other") == ""
    assert place.board.follow_ups(ANN) == ()


def test_what_cannot_be_noted_is_told_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that refuses costs no brief: the session hears it twice rather than never."""
    place.hook("session-start")
    end(place, wait_for(place))

    def refuse(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(follow_ups, "drop_follow_ups", refuse)
    assert [LINE in brief(place) for _ in range(2)] == [True, True]
