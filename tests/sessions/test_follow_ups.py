from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brief.core.model.errors import SupersededError
from brief.core.model.section_data import EpisodeState
from brief.sessions.board import Board
from brief.sessions.database import Database
from brief.sessions.stored import StoredSessions

NOW = datetime(2026, 10, 11, 9, 0, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of the database."""
    return tmp_path / "majordomus.db"


@contextlib.contextmanager
def board_of(path: Path, epoch: int = 1) -> Iterator[Board]:
    """The board of a server of that epoch."""
    with contextlib.closing(Database(path, epoch=epoch)) as database:
        yield Board(database)


def enter(board: Board, session: str, checkout: str = "/r") -> None:
    """Open an episode."""
    board.open(
        session, provider="claude-code", checkout=checkout, branch=None, process=None, state=EpisodeState.IDLE, now=NOW
    )


def texts(board: Board, session: str) -> list[str]:
    """The follow-ups of a session."""
    return [one.text for one in board.follow_ups(session)]


def test_what_is_owed_waits_until_it_is_told(path: Path) -> None:
    """Follow-ups come in order; delivered ones are removed, others stay, and briefs are composed anew."""
    with board_of(path) as board:
        enter(board, "ann")
        versions = [board.version]
        for text in ("one", "two"):
            board.follow_up("ann", "/r", text, NOW)
            versions.append(board.version)
        first, _ = board.follow_ups("ann")
        board.mark_delivered([first.number])
        versions.append(board.version)
        assert texts(board, "ann") == ["two"]
        assert len({*versions}) == 4
        board.mark_delivered([first.number, 999])
        assert texts(board, "ann") == ["two"]


def test_nobody_else_is_told(path: Path) -> None:
    """A session that is not open is owed nothing, and nor is another of the checkout while the one meant is open."""
    with board_of(path) as board:
        enter(board, "ann")
        enter(board, "bob")
        board.follow_up("ann", "/r", "one", NOW)
        assert [texts(board, session) for session in ("ann", "bob", "nobody")] == [["one"], [], []]


def test_successor(path: Path) -> None:
    """If the session has ended, an open session of its checkout gets the follow-up, and none of another checkout."""
    with board_of(path) as board:
        enter(board, "ann")
        enter(board, "bob")
        enter(board, "cid", "/elsewhere")
        board.follow_up("ann", "/r", "one", NOW)
        board.close("ann", "ended", NOW)
        assert [texts(board, session) for session in ("bob", "cid")] == [["one"], []]
        enter(board, "ann")
        assert [texts(board, session) for session in ("ann", "bob")] == [["one"], []]


def test_next_server_knows_it(path: Path) -> None:
    """A follow-up that one server did not deliver is delivered by the next, and only then."""
    with board_of(path) as board:
        enter(board, "ann")
        for text in ("one", "two"):
            board.follow_up("ann", "/r", text, NOW)
        board.mark_delivered([board.follow_ups("ann")[0].number])
    with board_of(path, epoch=2) as board:
        assert texts(board, "ann") == ["two"]
    assert StoredSessions(path).follow_ups("ann") == ()


def test_superseded_server_owes_nothing(path: Path) -> None:
    """A server that was superseded owes nothing more: the database refuses it, and its memory stays as it was."""
    with board_of(path) as board, board_of(path, epoch=2):
        with pytest.raises(SupersededError):
            board.follow_up("ann", "/r", "one", NOW)
        assert board.version == 0


def test_episode_open_or_closed(path: Path) -> None:
    """An episode is found by its id for as long as it is stored."""
    with board_of(path) as board:
        assert board.find_episode("ann") is None
        enter(board, "ann")
        found = board.find_episode("ann")
        assert found is not None
        assert found.is_open
        board.close("ann", "ended", NOW)
        found = board.find_episode("ann")
        assert found is not None
        assert not found.is_open
