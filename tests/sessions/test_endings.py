from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator

import pytest

from brief.core.model.errors import StoreError
from brief.core.model.section_data import PeersData
from brief.core.sessions.life import Life
from brief.handlers.locks import LocksInputs, PlaceInputs, list_locks, place_lock
from brief.sessions import endings
from brief.sessions.board import Board
from brief.sessions.endings import Endings
from repo_fixture import ANN, BOB, Place


@pytest.fixture
def client() -> Iterator[subprocess.Popen[bytes]]:
    """A process that stands for a client."""
    with subprocess.Popen(["sleep", "300"]) as started:
        yield started
        started.kill()


def kill(client: subprocess.Popen[bytes]) -> None:
    """End the client; nobody waits for it, as for one whose parent is busy."""
    client.kill()
    os.waitid(os.P_PID, client.pid, os.WEXITED | os.WNOWAIT)


def told(place: Place) -> tuple[list[str], list[Life]]:
    """The peers that another session sees, and the life of the owners of all locks."""
    section = asyncio.run(place.service.section("peers", str(place.lab.repo), BOB))
    assert isinstance(section.data, PeersData)
    locks = place.call(list_locks, LocksInputs, session=BOB).locks
    return [peer.episode for peer in section.data.peers], [lock.owner for lock in locks]


def test_one_judgement(place: Place, client: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed client is not a peer any more, and the owner of its lock is gone, at the first question afterwards."""
    monkeypatch.setattr(endings, "FRESH_SECONDS", 0.0)
    place.hook("session-start", pid=client.pid)
    place.call(place_lock, PlaceInputs, session=ANN, component="koda")
    assert told(place) == ([ANN], [Life.ALIVE])
    kill(client)
    assert told(place) == ([], [Life.GONE])
    assert place.board.closed_episodes(1)[0].closed_reason == "its process ended"


def test_a_living_process_is_alive(place: Place, client: subprocess.Popen[bytes]) -> None:
    """A session that the server has only read about is alive as long as its process is."""
    place.hook("session-start", pid=client.pid)
    place.hook("session-start", session=BOB)
    later = Board(place.board._database)
    assert (later.life_of(ANN), later.life_of(BOB)) == (Life.ALIVE, Life.UNKNOWN)


def test_at_most_once_a_second(place: Place, client: subprocess.Popen[bytes]) -> None:
    """However many ask, the processes are looked at once a second."""
    place.hook("session-start", pid=client.pid)
    judge = Endings(place.board, place.lab.common_dir, place.clock)
    judge.refresh()
    kill(client)
    judge.refresh()
    assert place.episode() is not None
    judge.close_ended()
    assert place.episode() is None


def test_board_that_cannot_be_written(
    place: Place, client: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question is answered although the end of a session cannot be stored."""

    def refuse(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(endings, "FRESH_SECONDS", 0.0)
    place.hook("session-start", pid=client.pid)
    kill(client)
    monkeypatch.setattr(Board, "close", refuse)
    assert told(place) == ([ANN], [])
