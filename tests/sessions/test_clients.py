from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from brief.core.sessions.episode import Client
from brief.core.sessions.life import SILENT_AFTER
from brief.sessions.clients import Clients
from brief.sessions.processes import find_process
from samples import NOW

ONE, TWO = Client(1, "/r"), Client(2, "/linked")
SECOND = timedelta(seconds=1)


def test_first_has_it() -> None:
    """Of two clients that speak in turns the first has the session, and both are known."""
    clients = Clients()
    told = [clients.note("e", client, NOW + at * SECOND) for at, client in enumerate([ONE, TWO, ONE, TWO, TWO])]
    assert told == [True, False, True, False, False]
    assert clients.of("e", NOW) == (ONE, TWO)
    assert clients.of("other", NOW) == ()


def test_client_that_moves() -> None:
    """A client that goes to another checkout is the same, and has the session still."""
    clients = Clients()
    assert clients.note("e", ONE, NOW)
    assert clients.note("e", ONE._replace(checkout="/linked"), NOW)
    assert clients.of("e", NOW) == (Client(1, "/linked"),)


def test_client_that_is_silent() -> None:
    """Once the first was silent for three looks the other has the session, and keeps it when the first is back."""
    clients = Clients()
    clients.note("e", ONE, NOW)
    assert not clients.note("e", TWO, NOW + SILENT_AFTER - SECOND)
    assert clients.note("e", TWO, NOW + SILENT_AFTER)
    assert clients.of("e", NOW + SILENT_AFTER) == (TWO,)
    assert not clients.note("e", ONE, NOW + SILENT_AFTER)


def test_clock_that_is_set() -> None:
    """However far a clock is set, who speaks next has the session, and nobody is kept from it for longer."""
    for set_by in (timedelta(days=-1), timedelta(days=3)):
        clients = Clients()
        clients.note("e", ONE, NOW)
        assert clients.note("e", TWO, NOW + set_by)


def test_closed_session() -> None:
    """Of a session that was closed nothing is kept, and whoever shows it still has it."""
    clients = Clients()
    for number in range(1, 1_001):
        clients.note(f"e{number}", ONE, NOW)
        clients.forget(f"e{number}")
    assert clients._heard == {}
    assert clients.note("e1", TWO, NOW)


def test_first_of_two_at_once() -> None:
    """Of two clients that speak at the same moment, in two threads, one alone is told that it has the session."""
    clients, sessions = Clients(), [f"e{number}" for number in range(300)]
    start = threading.Barrier(2)

    def speak(client: Client) -> list[bool]:
        start.wait()
        return [clients.note(session, client, NOW) for session in sessions]

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
        clients = Clients()
        assert clients.note("e", first, NOW)
        process.communicate(b"")
    assert clients.note("e", TWO, NOW + SECOND)
    assert clients.of("e", NOW + SECOND) == (TWO,)


def test_client_that_leaves() -> None:
    """Who is left may still show the session: those heard of late, and those whose process lives however long ago."""
    clients = Clients()
    living = Client(os.getpid(), "/r", find_process(os.getpid()))
    clients.note("e", living, NOW)
    clients.note("e", ONE, NOW)
    clients.note("e", TWO, NOW + SILENT_AFTER)
    assert clients.leave("e", TWO.pid, NOW + SILENT_AFTER) == (living,)
    assert clients.leave("e", None, NOW + SILENT_AFTER) == (living,)
    assert clients.leave("e", living.pid, NOW + SILENT_AFTER) == ()
