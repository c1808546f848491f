from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from brief.core.model.errors import ConflictError, NotFoundError, StoreError, SupersededError, UsageError
from brief.core.model.section_data import EpisodeState
from brief.core.sessions.claims import INTENT_LIMIT, MOST_CLAIMS
from brief.sessions.board import Board
from brief.sessions.database import Database
from brief.sessions.stored import StoredSessions

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of the database."""
    return tmp_path / "majordomus.db"


@pytest.fixture
def board(path: Path) -> Iterator[Board]:
    """A board on which ann and bob are open."""
    database = Database(path, epoch=1)
    made = Board(database)
    for name in ("ann", "bob"):
        opened(made, name)
    yield made
    database.close()


def opened(board: Board, name: str, now: datetime = NOW) -> None:
    """Open an episode."""
    board.open(name, provider="codex", checkout="/r", branch=None, process=None, state=EpisodeState.UNKNOWN, now=now)


def test_announced_claim_is_kept(board: Board, path: Path) -> None:
    """A claim is held, with its paths normalised, and the next server and a reader without one know it too."""
    before = board.version
    claim, released = board.announce("ann", "login", " fix login ", ("./src/", "src"), NOW)
    assert (claim.intent, claim.scope, released) == ("fix login", ("src",), None)
    assert board.version > before
    assert board.claims() == (claim,)
    assert StoredSessions(path).claims() == (claim,)
    with contextlib.closing(Database(path, epoch=2)) as database:
        assert Board(database).claims() == (claim,)


def test_same_name_replaces(board: Board) -> None:
    """A claim takes over the name of an earlier one of its episode, which is given back; others stay."""
    first, _ = board.announce("ann", "work", "one", ("src",), NOW)
    board.announce("ann", "docs", "two", ("doc",), NOW)
    board.announce("bob", "work", "three", ("src",), NOW)
    second, released = board.announce("ann", "work", "four", ("lib",), NOW + timedelta(minutes=1))
    assert released == first
    assert [(claim.episode, claim.name, claim.intent) for claim in board.claims()] == [
        ("ann", "docs", "two"),
        ("bob", "work", "three"),
        ("ann", "work", "four"),
    ]
    assert second in board.claims()


def test_release(board: Board, path: Path) -> None:
    """One claim is released by its name, all of an episode without one, and no other's."""
    for name in ("a", "b", "c"):
        board.announce("ann", name, "some", (name,), NOW)
    kept, _ = board.announce("bob", "a", "some", ("a",), NOW)
    assert [claim.name for claim in board.release("ann", "b")] == ["b"]
    assert [claim.name for claim in board.release("ann", None)] == ["a", "c"]
    assert board.claims() == StoredSessions(path).claims() == (kept,)


def test_release_of_nothing(board: Board) -> None:
    """Releasing a claim that is not held is refused, and so is a release for an episode that is not open."""
    with pytest.raises(NotFoundError, match="holds no claim;"):
        board.release("ann", None)
    with pytest.raises(NotFoundError, match="no claim named 'x'"):
        board.release("ann", "x")
    with pytest.raises(NotFoundError, match="no episode eve"):
        board.release("eve", None)


def test_claims_end_with_their_episode(board: Board, path: Path) -> None:
    """The claims of an episode are gone once it is closed, for good, and a closed one announces nothing."""
    board.announce("ann", "work", "one", ("src",), NOW)
    kept, _ = board.announce("bob", "work", "two", ("doc",), NOW)
    board.close("ann", "done", NOW)
    assert board.claims() == StoredSessions(path).claims() == (kept,)
    with pytest.raises(ConflictError, match="closed"):
        board.announce("ann", "work", "one", ("src",), NOW)
    opened(board, "ann")
    assert board.claims() == (kept,)


@pytest.mark.parametrize(
    ("name", "intent", "scope"),
    [
        ("a b", "x", ("src",)),
        ("a", " ", ("src",)),
        ("a", "x" * (INTENT_LIMIT + 1), ("src",)),
        ("a", "x", ()),
        ("a", "x", ("/etc",)),
    ],
)
def test_refused(board: Board, name: str, intent: str, scope: tuple[str, ...]) -> None:
    """A claim with a bad name, intent or scope is refused, and nothing is held."""
    with pytest.raises(UsageError):
        board.announce("ann", name, intent, scope, NOW)
    assert board.claims() == ()


def test_one_too_many(board: Board, path: Path) -> None:
    """An episode holds a bounded number of claims; replacing one is always possible."""
    for number in range(MOST_CLAIMS):
        board.announce("ann", f"n{number}", "some", ("src",), NOW)
    with pytest.raises(ConflictError, match="release one"):
        board.announce("ann", "more", "some", ("src",), NOW)
    board.announce("ann", "n0", "again", ("src",), NOW)
    assert len(board.claims()) == len(StoredSessions(path).claims()) == MOST_CLAIMS


def test_superseded_board_claims_nothing(board: Board, path: Path) -> None:
    """Once a newer epoch is stored, nothing is claimed or released any more."""
    held, _ = board.announce("ann", "work", "one", ("src",), NOW)
    Database(path, epoch=2).close()
    with pytest.raises(SupersededError):
        board.announce("ann", "other", "two", ("src",), NOW)
    with pytest.raises(SupersededError):
        board.release("ann", "work")
    assert board.claims() == (held,)


def test_no_database(tmp_path: Path) -> None:
    """If no episode was ever opened there are no claims; if the database cannot be read, that is an error."""
    assert StoredSessions(tmp_path / "none.db").claims() == ()
    (tmp_path / "bad.db").write_text("no database")
    with pytest.raises(StoreError):
        StoredSessions(tmp_path / "bad.db").claims()
