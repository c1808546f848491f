from __future__ import annotations

from datetime import timedelta

from brief.core.sessions.episode import Client
from brief.core.sessions.life import SILENT_AFTER
from brief.sessions.clients import Clients
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
