from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest
from msgspec.structs import replace

from brief.core.model.errors import NotFoundError, StoreError, SupersededError
from brief.core.model.section_data import EpisodeState
from brief.core.wakes.rules import MINUTE, Instant, Rules
from brief.core.wakes.state import Change, Entry, Prompt, WakeState, change_nothing, queue_prompt, record_outcome
from brief.sessions.board import Board
from brief.sessions.database import Database
from brief.sessions.wakes import Wakes
from samples import NOW

RULES = Rules(on=True, interval=20 * MINUTE, limit=12, changed=False)
PROMPT = Prompt(id="p", text="wake \udcff up".encode("utf-8", "replace").decode(), facts="f", composed=NOW)


class Server:
    """The wakes of one server after the other, over one file."""

    def __init__(self, path: Path) -> None:
        self.path, self.epoch, self.steady = path, 0, 500.0
        self.leaving = contextlib.ExitStack()
        self.next()

    def next(self) -> None:
        """The next server, which knows what is stored."""
        self.epoch += 1
        self.database = self.leaving.enter_context(contextlib.closing(Database(self.path, self.epoch)))
        self.board = Board(self.database)
        self.wakes = self.board.wakes = Wakes(self.database, lambda: self.steady)

    def open(self, name: str = "e1", now: datetime = NOW) -> None:
        """Open an episode."""
        idle = EpisodeState.IDLE
        self.board.open(name, provider="codex", checkout="/r", branch=None, process=None, state=idle, now=now)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server with one episode."""
    made = Server(tmp_path / "majordomus.db")
    made.open()
    with made.leaving:
        yield made


def queue(wake_state: WakeState) -> Change:
    """A prompt is put into the outbox."""
    return queue_prompt(wake_state, PROMPT, 0, RULES, wake_state.anchor)


def count(entries: tuple[Entry, ...], wake_state: WakeState) -> Change:
    """Nothing but that something is counted."""
    return wake_state, entries


def test_nothing_happened_yet(server: Server) -> None:
    """Of a session to which nothing happened nothing is known, and its wakes begin with the first thing."""
    assert server.wakes.get("e1") is None
    assert server.wakes.open() == {}
    assert server.wakes.change("e1", NOW, change_nothing) == (WakeState(anchor=Instant(NOW, 500.0)), ())
    assert server.wakes.open() == {"e1": WakeState(anchor=Instant(NOW, 500.0))}


def test_unknown_session(server: Server) -> None:
    """A session that was never opened here has no wakes."""
    with pytest.raises(NotFoundError, match="nobody"):
        server.wakes.change("nobody", NOW, change_nothing)


def test_next_server_knows(server: Server) -> None:
    """All but the steady clock is known to the next server, which takes that from its own."""
    made = WakeState(
        anchor=Instant(NOW, 400.0), unprompted=3, stopped=True, briefed=NOW, facts_read="f", prompt=PROMPT, paused=NOW
    )
    server.wakes.change("e1", NOW, lambda _: (made, (Entry("wake", "queued"), Entry("injected", "mod", size=7))))
    assert server.wakes.get("e1") == made
    server.next()
    assert server.wakes.get("e1") == replace(made, anchor=Instant(NOW))
    server.steady = 9.0
    later = NOW + timedelta(seconds=60)
    assert server.wakes.change("e1", later, change_nothing)[0].anchor == Instant(NOW, 9.0 - 60)
    assert [(line.kind, line.detail, line.count, line.size) for line in server.wakes.ledger("e1")] == [
        ("injected", "mod", 1, 7),
        ("wake", "queued", 1, 0),
    ]


def test_pause_of_all(server: Server) -> None:
    """A pause of all is everybody's, also of sessions that come later; it begins once."""
    server.wakes.pause_all(NOW)
    server.wakes.pause_all(NOW + MINUTE)
    assert server.wakes.all_paused() == NOW
    server.open("e2")
    assert server.wakes.change("e2", NOW, change_nothing)[0].paused_since == NOW
    server.next()
    assert server.wakes.all_paused() == NOW
    server.wakes.resume_all()
    assert server.wakes.all_paused() is None
    assert server.wakes.open()["e2"].paused_since is None


def test_version(server: Server) -> None:
    """A change that a brief shows changes its version, and any other does not."""
    server.wakes.change("e1", NOW, change_nothing)
    versions = [server.board.version]
    steps: list[Callable[[], object]] = [
        lambda: server.wakes.change("e1", NOW, lambda wake_state: (wake_state, (Entry("injected", "mod", size=1),))),
        lambda: server.wakes.change("e1", NOW, queue),
        lambda: server.wakes.pause_all(NOW),
        server.wakes.resume_all,
    ]
    for step in steps:
        step()
        versions.append(server.board.version)
    assert [later > earlier for earlier, later in pairwise(versions)] == [False, True, True, True]


def test_closed_episode(server: Server) -> None:
    """A waiting prompt is removed when its session is closed, and the counts stay as long as the episode does."""
    server.wakes.change("e1", NOW, queue)
    server.board.close("e1", "ended", NOW)
    assert server.wakes.open() == {}
    closed = server.wakes.get("e1")
    assert closed is not None
    assert closed.prompt is None
    assert server.wakes.ledger("e1")


def test_forgotten_episode(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wakes and ledger go where their episode goes."""
    monkeypatch.setattr("brief.sessions.board.MOST_STORED", 0)
    server.wakes.change("e1", NOW, queue)
    server.board.close("e1", "ended", NOW)
    assert server.wakes.get("e1") is None
    assert server.wakes.ledger("e1") == ()


def test_thousands_of_sessions(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sessions come and go, what is kept of them is bounded: in the tables, and in memory of the open alone."""
    monkeypatch.setattr("brief.sessions.board.MOST_STORED", 5)
    for number in range(300):
        name = f"s{number}"
        server.open(name)
        server.wakes.change(name, NOW, queue)
        for outcome in ("held", "held", "failed", "submitted"):
            entries = (Entry("wake", outcome), Entry("injected", "mod", size=9))
            server.wakes.change(name, NOW, partial(count, entries))
        server.board.close(name, "ended", NOW + number * MINUTE)
        server.wakes.change(
            name, NOW, lambda wake_state: record_outcome(wake_state, "p", "submitted", wake_state.anchor)
        )
    with server.database.read() as connection:
        counts = [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("wakes", "ledger")]
    assert counts == [5, 5 * 5]
    server.wakes.change("e1", NOW, change_nothing)
    assert set(server.wakes.open()) == set(server.wakes._anchors) == {"e1"}


def test_opened_again(server: Server) -> None:
    """An episode that was closed begins its interval when it is open again, by both clocks, and keeps all else."""
    server.wakes.change(
        "e1", NOW, lambda wake_state: (replace(wake_state, unprompted=3, stopped=True, briefed=NOW), ())
    )
    server.board.close("e1", "ended", NOW)
    server.steady = 900.0
    later = NOW + timedelta(days=3)
    server.open("e1", later)
    assert server.wakes.get("e1") == WakeState(Instant(later, 900.0), unprompted=3, stopped=True, briefed=NOW)
    server.open("e1", later + MINUTE)
    found = server.wakes.get("e1")
    assert found is not None
    assert found.anchor.wall == later


def test_many_at_once(server: Server) -> None:
    """Of many that change the same wakes at once none undoes another."""

    def add(wake_state: WakeState) -> Change:
        return replace(wake_state, unprompted=wake_state.unprompted + 1), (Entry("wake", "submitted"),)

    threads = [Thread(target=lambda: server.wakes.change("e1", NOW, add)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wake_state = server.wakes.get("e1")
    assert wake_state is not None
    assert (wake_state.unprompted, server.wakes.ledger("e1")[0].count) == (20, 20)


def test_step_that_fails(server: Server) -> None:
    """A step that raises changes nothing."""

    def refuse(_: WakeState) -> Change:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        server.wakes.change("e1", NOW, refuse)
    assert server.wakes.get("e1") is None


def test_superseded_server(server: Server) -> None:
    """A server whose epoch is over changes nothing."""
    before = server.wakes
    server.next()
    with pytest.raises(SupersededError):
        before.change("e1", NOW, change_nothing)
    with pytest.raises(SupersededError):
        before.pause_all(NOW)


@pytest.mark.parametrize(("column", "value"), [("anchor", "soon"), ("prompt", "{}"), ("paused", "x")])
def test_row_of_another_hand(server: Server, column: str, value: str) -> None:
    """A row that we did not write is an error in one sentence."""
    server.wakes.change("e1", NOW, change_nothing)
    with server.database.write() as connection:
        connection.execute(f"UPDATE wakes SET {column} = ?", (value,))
    with pytest.raises(StoreError, match="e1 cannot be read"):
        server.wakes.get("e1")
