from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from brief.handlers.episodes import CloseInputs, close_episode
from brief.server.housekeeping import tend
from brief.sessions.board import Board
from brief.sessions.handover import hand_over
from repo_fixture import ANN, Place

ENDED = "its client ended it: prompt_input_exit"

Start = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture
def client() -> Iterator[Start]:
    """Starts processes that stand for clients; all are ended."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(["sleep", "300"]))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait()


def end(place: Place, pid: int | None) -> None:
    """The session's end as a client tells it."""
    place.hook("session-end", reason="prompt_input_exit", pid=pid)


def shown_by_both(place: Place, client: Start) -> tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]:
    """A session that one client started and another resumed, an hour ago."""
    first, second = client(), client()
    place.hook("session-start", source="startup", provider="claude-code", pid=first.pid)
    place.hook("session-start", source="resume", provider="claude-code", pid=second.pid)
    place.clock.now += timedelta(hours=1)
    return first, second


def follows(place: Place) -> int | None:
    """The process that the record of the open session follows."""
    episode = place.episode()
    assert episode is not None
    return episode.process.pid if episode.process else None


def test_the_second_ends(place: Place, client: Start) -> None:
    """The end of a client that resumed the session leaves it to the one that began it."""
    first, second = shown_by_both(place, client)
    assert follows(place) == first.pid
    end(place, second.pid)
    assert follows(place) == first.pid
    end(place, first.pid)
    assert place.episode() is None
    assert place.board.closed_episodes(1)[0].closed_reason == ENDED


def test_the_first_ends(place: Place, client: Start) -> None:
    """If the client that has the session ends, the other one gets it."""
    first, second = shown_by_both(place, client)
    end(place, first.pid)
    assert follows(place) == second.pid


def test_the_first_is_killed(place: Place, client: Start) -> None:
    """A session does not end with a killed process while another client shows it."""
    first, second = shown_by_both(place, client)
    first.kill()
    first.wait()
    tend(place.service)
    assert follows(place) == second.pid
    second.kill()
    second.wait()
    tend(place.service)
    assert place.episode() is None


def test_a_mod_that_ends(place: Place, client: Start) -> None:
    """The end that a mod tells names its client too."""
    first, second = shown_by_both(place, client)
    place.call(close_episode, CloseInputs, session=ANN, reason=ENDED, pid=second.pid)
    assert follows(place) == first.pid


def test_after_a_restart(place: Place, client: Start) -> None:
    """A server that knows of the first client by its record alone does not close it at the end of another."""
    first, second = client(), client()
    place.hook("session-start", source="startup", pid=first.pid)
    place.service._sessions = place.board = Board(place.board._database)
    end(place, second.pid)
    assert follows(place) == first.pid


def test_a_client_that_names_no_process(place: Place, client: Start) -> None:
    """It ends the session for all, unless several clients are known to show it."""
    place.hook("session-start", pid=client().pid)
    end(place, None)
    assert place.episode() is None
    shown_by_both(place, client)
    end(place, None)
    assert place.episode() is not None


def test_closed_by_command(place: Place, client: Start) -> None:
    """A person who closes an episode by command closes it, whichever client shows it."""
    shown_by_both(place, client)
    place.call(close_episode, CloseInputs, session=ANN)
    assert place.episode() is None


def test_nobody_else(place: Place) -> None:
    """An episode that nobody else shows goes to nobody."""
    place.hook("session-start", pid=os.getpid())
    assert not hand_over(place.board, ANN, place.clock())
