"""The state section: the asking session's own episode and task, and nothing stale."""

from __future__ import annotations

from typing import Any

import pytest

from brief.core.model.brief import Status
from brief.core.model.level import Level
from brief.core.model.section_data import EpisodeState, StateData
from brief.core.model.wire import to_json
from brief.core.sessions.episode import Client
from brief.core.sessions.task import Task
from brief.core.wakes.rules import Instant
from brief.core.wakes.state import WakeState
from brief.sections.state import answer
from samples import NOW, Known, ago, ask, context, episode

ON = {"session": {"brief_on_interval": True}}

FRESHNESS = {"freshness": {"fresh_minutes": 10, "stale_minutes": 60}}


def task(name: str = "e1", **fields: Any) -> Task:
    """A task begun twelve minutes ago."""
    return Task(**{"episode": name, "title": "fix login", "since": ago(minutes=12), **fields})


def data(section: Any) -> StateData:
    """The data of the section."""
    assert isinstance(section.data, StateData)
    return section.data


def test_nobody_is_here() -> None:
    """An empty checkout counts as read, with no episode and no task."""
    found = answer(context(), ask())
    assert (found.status, found.headline, found.rows) == (Status.READ, "no episode is open in this checkout", ())
    assert data(found) == StateData(episode=None, open=0, task=None)
    assert found.as_of == NOW


def test_the_only_episode_here_is_the_one_that_asks() -> None:
    """Without a session id, the only open episode of the checkout is meant, with its task."""
    found = answer(context(Known([episode()], tasks=[task()])), ask())
    assert found.headline == "fix login, begun 12m ago"
    held = data(found)
    assert held.episode is not None
    assert held.task is not None
    assert (held.episode.id, held.episode.liveness, held.episode.state) == ("e1", "heard", EpisodeState.BUSY)
    assert (held.open, held.task.title, held.task.since) == (1, "fix login", ago(minutes=12))


def test_of_several_nobody_is_guessed() -> None:
    """With two open episodes and no session id, it gives their number and does not mix up their tasks."""
    found = answer(context(Known([episode("e1"), episode("e2")], tasks=[task()])), ask())
    assert found.headline == "2 episodes are open in this checkout, and the request did not say which one asks"
    assert data(found) == StateData(episode=None, open=2, task=None)


def test_the_one_that_names_itself_is_meant() -> None:
    """An episode is identified by its id, never by its position."""
    sessions = Known([episode("e1"), episode("e2")], tasks=[task("e1"), task("e2", title="write docs")])
    assert answer(context(sessions), ask(session="e2")).headline == "write docs, begun 12m ago"


def test_two_checkouts_never_show_each_others_state() -> None:
    """From a checkout without sessions, the episode of another is neither shown nor counted."""
    sessions = Known([episode("e1", "/a")], tasks=[task("e1")])
    other = answer(context(sessions), ask("/b"))
    assert (other.headline, data(other)) == (
        "no episode is open in this checkout",
        StateData(episode=None, open=0, task=None),
    )
    assert answer(context(sessions), ask("/a")).headline == "fix login, begun 12m ago"


@pytest.mark.parametrize("neighbour", ["/a/b", "/", "/A", "/a ", "/a-2"])
def test_a_checkout_is_its_path_and_no_other(neighbour: str) -> None:
    """A checkout inside another, above it or of the same name is a different one."""
    assert data(answer(context(Known([episode("e1", neighbour)])), ask("/a"))).open == 0


def test_an_episode_that_asks_from_elsewhere_is_told_where_it_was_opened() -> None:
    """An episode asked from another checkout is still itself, and the section says where it was opened."""
    found = answer(context(Known([episode("e1", "/a")], tasks=[task()])), ask("/b", session="e1"))
    assert found.headline == "fix login, begun 12m ago"
    assert [row.text for row in found.rows] == ["this episode was opened in /a"]
    assert data(found).open == 0


def test_a_session_without_an_episode_is_told_so() -> None:
    """An unknown session id is not silently replaced by the only episode here."""
    found = answer(context(Known([episode()], tasks=[task()])), ask(session="e9\x1b[2J"))
    assert found.headline == "session e9 has no open episode"
    assert data(found) == StateData(episode=None, open=1, task=None)


def test_an_episode_without_a_task() -> None:
    """An episode without a task is named, and the headline says so."""
    found = answer(context(Known([episode()])), ask())
    assert (found.headline, data(found).task) == ("episode e1 has no task", None)


def test_an_unheard_episode_is_not_said_to_be_busy() -> None:
    """An episode stored by an earlier server is shown without a state."""
    held = data(answer(context(Known(unheard=[episode()])), ask())).episode
    assert held is not None
    assert (held.liveness, held.state, held.heard) == ("unheard", EpisodeState.UNKNOWN, ago(minutes=1))


@pytest.mark.parametrize(("minutes", "row"), [(5, "next: run the tests"), (30, "next: run the tests (said 30m ago)")])
def test_a_next_action_is_shown_and_ages(minutes: int, row: str) -> None:
    """A fresh next action is shown alone; past its fresh minutes it has its age."""
    said = task(next_action="run the tests", next_since=ago(minutes=minutes))
    found = answer(context(Known([episode()], tasks=[said])), ask(settings={"session": FRESHNESS}))
    assert [each.text for each in found.rows] == [row]


def test_a_stale_next_action_is_withheld() -> None:
    """Past its stale minutes it appears in no row and no data; only the reason does."""
    said = task(next_action="drop the table", next_since=ago(minutes=61))
    found = answer(context(Known([episode()], tasks=[said])), ask(settings={"session": FRESHNESS}))
    held = data(found).task
    assert held is not None
    assert (held.next, held.next_since) == (None, ago(minutes=61))
    assert "after 60 minutes" in (held.next_withheld or "")
    assert [row.text for row in found.rows] == [f"next action withheld: {held.next_withheld}"]
    assert "drop the table" not in to_json(found)


def test_names_are_as_they_are_in_data_and_cleaned_in_rows() -> None:
    """Titles, paths and actions are other people's text: verbatim in data, sanitized where they are shown."""
    hostile = "a\x1b[31mb\u202ec\nd"
    said = task(title=hostile, scope=(hostile,), next_action=hostile, next_since=NOW)
    found = answer(context(Known([episode(checkout=hostile)], tasks=[said])), ask("/b", session="e1"))
    held = data(found)
    assert held.task is not None
    assert held.episode is not None
    assert (held.task.title, held.task.scope, held.task.next) == (hostile, (hostile,), hostile)
    assert held.episode.checkout == hostile
    shown = [found.headline, *(row.text for row in found.rows)]
    assert shown == ["abc d, begun 12m ago", "this episode was opened in abc d", "scope abc d", "next: abc d"]


@pytest.mark.parametrize(
    ("fields", "limit", "kept", "told"),
    [
        ({}, 12, None, None),
        ({"paused": ago(minutes=5)}, 12, "paused", "wakes paused 5m ago: majordomus wake resume"),
        ({"all_paused": ago(hours=3)}, 12, "paused", "wakes paused 3h ago: majordomus wake resume"),
        ({"unprompted": 3}, 3, "limit", "wake limit reached: 3 wakes without a prompt from a person"),
        ({"stopped": True}, 12, "stopped", None),
    ],
)
def test_what_keeps_it_from_being_woken(fields: Any, limit: int, kept: str | None, told: str | None) -> None:
    """A session reads why it is not woken and how that ends, and nothing if its policy wakes nobody."""
    sessions = Known([episode()], wake_states={"e1": WakeState(anchor=Instant(NOW), **fields)})
    on = {"brief_on_interval": True, "wake_limit": limit}
    found = answer(context(sessions), ask(settings={"session": on}))
    assert data(found).wakes == kept
    assert [row.text for row in found.rows if told and row.text.startswith(told)] == [row.text for row in found.rows]
    off = answer(context(sessions), ask())
    assert (data(off).wakes, off.rows) == (None, ())


@pytest.mark.parametrize(
    ("settings", "fields", "woken"),
    [
        (ON, {"has_channel": lambda session: True}, True),
        (ON, {}, False),
        (ON, {"has_channel": lambda session: True, "untrusted": lambda session: True}, False),
        ({}, {"has_channel": lambda session: True}, False),
    ],
    ids=["in force", "no mod or hook", "not trusted", "switched off"],
)
def test_whether_it_is_woken(settings: Any, fields: Any, woken: bool) -> None:
    """A session counts as woken only if the policy asks for it and its client takes wakes and may."""
    found = answer(context(Known([episode()]), **fields), ask(settings=settings))
    assert data(found).woken is woken


def test_nobody_is_woken_while_paused() -> None:
    """A pause stops the wakes, whatever the policy asks for."""
    sessions = Known([episode()], wake_states={"e1": WakeState(anchor=Instant(NOW), paused=NOW)})
    found = answer(context(sessions, has_channel=lambda session: True), ask(settings=ON))
    assert data(found).woken is False


def test_several_clients_of_one_session() -> None:
    """A session that two clients show has a row with checkout and process of both; one with a single client has none."""
    clients = [Client(number, f"/src/{number}\x1b[31m") for number in range(1, 6)]
    assert answer(context(Known([episode()], clients=clients[:1])), ask()).rows == ()
    (two,) = answer(context(Known([episode()], clients=clients[:2])), ask()).rows
    assert two.text == (
        "open in 2 clients, process 1 in /src/1, process 2 in /src/2; "
        "only the first is woken, and they share no context: end all but one"
    )
    assert (two.level, two.pin) == (Level.HIGH, "this session is open in several clients")
    (five,) = answer(context(Known([episode()], clients=clients)), ask()).rows
    assert "open in 5 clients" in five.text
    assert "/src/4" not in five.text
