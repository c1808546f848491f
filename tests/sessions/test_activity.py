from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from brief.core.sessions.episode import Client
from brief.core.sessions.life import SILENT_AFTER
from brief.sessions.activity import MOST, Activity
from brief.sessions.processes import find_process
from samples import NOW

ONE, TWO = Client(1, "/r"), Client(2, "/linked")
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(("seconds", "served"), [(0, True), (119, True), (120, False), (-119, True), (-120, False)])
def test_served_for_two_minutes(seconds: int, served: bool) -> None:
    """A session counts as served for two minutes from the last time, also for a clock that was set back meanwhile."""
    activity = Activity()
    activity.note_served("ann", NOW - timedelta(minutes=1))
    activity.note_served("ann", NOW)
    assert activity.is_served("ann", NOW + seconds * SECOND) == served
    assert not activity.is_served("bob", NOW)


def test_process_that_began_last_waits() -> None:
    """Of the processes that wait beside one client the one that began last goes on, however often the others ask."""
    activity = Activity()
    assert [activity.note_waiting("process 1", since) for since in (5.0, 7.0, 5.0, 7.0, 6.0)] == [
        True,
        True,
        False,
        True,
        False,
    ]
    assert activity.note_waiting("process 2", 1.0)


def test_channel_is_as_it_was_last() -> None:
    """A session's channel is the one that asked last; of a session that none asks for there is none."""
    activity = Activity()
    activity.note_channel("ann", "project", draft=True)
    activity.note_channel("ann", "user")
    assert activity.channel("ann") == ("user", False)
    assert activity.channel("bob") is None


def test_nothing_is_kept_for_ever() -> None:
    """Only so many are remembered: who was heard again stays, who was heard longest ago is forgotten."""
    activity = Activity()
    for number in (*range(MOST), 0, MOST):
        activity.note_channel(f"e{number}", "project")
        activity.note_served(f"e{number}", NOW)
        activity.note_waiting(f"e{number}", 0.0)
    assert (activity.channel("e1"), activity.is_served("e1", NOW)) == (None, False)
    assert activity.channel("e0")
    assert activity.is_served("e0", NOW)
    assert len(activity._served) == len(activity._channels) == len(activity._waiting) == MOST


def test_first_has_it() -> None:
    """Of two clients that speak in turns the first has the session, and both are known."""
    activity = Activity()
    told = [activity.note_client("e", client, NOW + at * SECOND) for at, client in enumerate([ONE, TWO, ONE, TWO, TWO])]
    assert told == [True, False, True, False, False]
    assert activity.clients("e", NOW) == (ONE, TWO)
    assert activity.clients("other", NOW) == ()


def test_client_that_moves() -> None:
    """A client that goes to another checkout is the same, and has the session still."""
    activity = Activity()
    assert activity.note_client("e", ONE, NOW)
    assert activity.note_client("e", ONE._replace(checkout="/linked"), NOW)
    assert activity.clients("e", NOW) == (Client(1, "/linked"),)


def test_client_that_is_silent() -> None:
    """Once the first was silent for three looks the other has the session, and keeps it when the first is back."""
    activity = Activity()
    activity.note_client("e", ONE, NOW)
    assert not activity.note_client("e", TWO, NOW + SILENT_AFTER - SECOND)
    assert activity.note_client("e", TWO, NOW + SILENT_AFTER)
    assert activity.clients("e", NOW + SILENT_AFTER) == (TWO,)
    assert not activity.note_client("e", ONE, NOW + SILENT_AFTER)


def test_clock_that_is_set() -> None:
    """However far a clock is set, who speaks next has the session, and nobody is kept from it for longer."""
    for set_by in (timedelta(days=-1), timedelta(days=3)):
        activity = Activity()
        activity.note_client("e", ONE, NOW)
        assert activity.note_client("e", TWO, NOW + set_by)


def test_closed_session() -> None:
    """Of a session that was closed nothing is kept, and whoever shows it still has it."""
    activity = Activity()
    for number in range(1, 1_001):
        activity.note_client(f"e{number}", ONE, NOW)
        activity.forget_clients(f"e{number}")
    assert activity._clients == {}
    assert activity.note_client("e1", TWO, NOW)


def test_first_of_two_at_once() -> None:
    """Of two clients that call at the same moment, in two threads, only one gets the session."""
    activity, sessions = Activity(), [f"e{number}" for number in range(300)]
    start = threading.Barrier(2)

    def speak(client: Client) -> list[bool]:
        start.wait()
        return [activity.note_client(session, client, NOW) for session in sessions]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as pool:
            told = list(pool.map(speak, (ONE, TWO)))
    finally:
        sys.setswitchinterval(before)
    assert [sum(each) for each in zip(*told, strict=True)] == [1] * len(sessions)


def test_client_whose_process_ended() -> None:
    """A client that is proven gone has the session no more, however lately it was heard."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        first = Client(process.pid, "/r", find_process(process.pid))
        activity = Activity()
        assert activity.note_client("e", first, NOW)
        process.communicate(b"")
    assert activity.note_client("e", TWO, NOW + SECOND)
    assert activity.clients("e", NOW + SECOND) == (TWO,)


def test_client_that_leaves() -> None:
    """The remaining clients that may show the session: those heard recently, and those whose process lives."""
    activity = Activity()
    living = Client(os.getpid(), "/r", find_process(os.getpid()))
    activity.note_client("e", living, NOW)
    activity.note_client("e", ONE, NOW)
    activity.note_client("e", TWO, NOW + SILENT_AFTER)
    assert activity.remove_client("e", TWO.pid, NOW + SILENT_AFTER) == (living,)
    assert activity.remove_client("e", None, NOW + SILENT_AFTER) == (living,)
    assert activity.remove_client("e", living.pid, NOW + SILENT_AFTER) == ()
