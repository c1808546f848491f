from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from brief.core.model.brief import AnsweredBy
from brief.core.model.errors import SupersededError
from brief.core.model.section_data import EpisodeState
from brief.core.sessions.life import CHECKOUT_REMOVED, Life
from brief.fastpath import process as processes
from brief.server.housekeeping import tend
from brief.service import RepositoryService
from brief.sessions import episodes as rows
from brief.sessions.board import Board
from brief.sessions.database import Database
from brief.sessions.processes import find_process
from sandbox import Lab

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class Server:
    """A server's housekeeping: the service of a lab's repository, whose clock stands still until it is moved."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.now = START
        lab.state.mkdir(exist_ok=True)
        self.database = Database(lab.state / "majordomus.db", epoch=1)
        self.board = Board(self.database)
        self.service = self.service_of(self.board)

    def service_of(self, board: Board) -> RepositoryService:
        """A service with that board."""
        return RepositoryService(
            self.lab.common_dir, now=lambda: self.now, sessions=board, absence=None, identity=_nobody
        )

    def open(self, name: str, checkout: Path | None = None, *, pid: int | None = None) -> None:
        """Open an episode."""
        self.board.open(
            name,
            provider="codex",
            checkout=str(checkout or self.lab.repo),
            branch=None,
            process=find_process(pid) if pid is not None else None,
            state=EpisodeState.IDLE,
            now=self.now,
        )

    def after(self, seconds: float) -> dict[str, str]:
        """The liveness of every open episode after so many seconds and a look."""
        self.now += seconds * SECOND
        tend(self.service)
        return {one.episode.id: one.liveness for one in self.board.open_episodes()}

    def reasons(self) -> dict[str, str | None]:
        """Why each closed episode is closed."""
        return {episode.id: episode.closed_reason for episode in self.board.closed_episodes(100)}


def _no_descriptor(path: str) -> str:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)


def _nobody(root: str) -> AnsweredBy:
    return AnsweredBy(kind="self", pid=1, root=root, epoch=None, version="1", reason="a test")


@pytest.fixture
def server(lab: Lab) -> Iterator[Server]:
    """A server that never ticks by itself."""
    lab.commit()
    made = Server(lab)
    yield made
    made.database.close()


def test_silent_after_three_looks(server: Server) -> None:
    """A session that was not heard for three checks is silent, without a state, until it is heard again."""
    server.open("ann")
    assert server.after(0) == {"ann": "heard"}
    assert server.after(180) == {"ann": "heard"}
    before = server.board.version
    assert server.after(1) == {"ann": "silent"}
    assert server.board.version > before
    assert [one.state for one in server.board.open_episodes()] == [EpisodeState.UNKNOWN]
    server.board.hear("ann", server.now)
    assert [(one.liveness, one.state) for one in server.board.open_episodes()] == [("heard", EpisodeState.IDLE)]


def test_next_server_gives_three_looks(server: Server) -> None:
    """A server that begins hours later calls nobody silent before it has been there for three looks itself."""
    server.open("ann")
    server.now += timedelta(hours=5)
    server.board = Board(server.database)
    server.service = server.service_of(server.board)
    assert server.after(0) == {"ann": "unheard"}
    assert server.after(180) == {"ann": "unheard"}
    assert server.after(1) == {"ann": "silent"}


def test_clock_set_back(server: Server) -> None:
    """A clock that was set back by a day makes nobody well for a day: who speaks is heard, who does not is silent."""
    server.open("ann")
    server.open("bob")
    server.after(0)
    server.now -= timedelta(days=1)
    server.board.hear("bob", server.now)
    assert server.after(0) == {"ann": "silent", "bob": "heard"}


def test_process_that_ends(server: Server) -> None:
    """An episode is closed once its process is gone, with the reason, and the one beside it is not."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        server.open("ann", pid=process.pid)
        server.open("bob")
        assert server.after(10) == {"ann": "heard", "bob": "heard"}
        process.kill()
    assert server.after(10) == {"bob": "heard"}
    assert server.reasons() == {"ann": "its process ended"}


def test_process_that_was_never_found(server: Server) -> None:
    """A number that meant nothing here when it was given, as one of a container, closes nothing."""
    server.open("ann", pid=2**31 - 1)
    assert server.after(10) == {"ann": "heard"}


def test_worktree_that_is_removed(server: Server) -> None:
    """An episode whose process nobody knows ends with its work tree, once neither the disk nor git has anything of it."""
    removed, deleted = (server.lab.worktree(name) for name in ("removed", "deleted"))
    for name, folder in (("ann", removed), ("bob", deleted), ("dan", server.lab.repo)):
        server.open(name, folder)
    assert len(server.after(10)) == 3
    server.lab.git("worktree", "remove", "--force", str(removed))
    shutil.rmtree(deleted)
    assert set(server.after(10)) == {"bob", "dan"}
    server.lab.git("worktree", "prune")
    assert set(server.after(10)) == {"dan"}
    assert server.reasons() == dict.fromkeys(("ann", "bob"), CHECKOUT_REMOVED)


def test_a_living_process_is_a_living_session(server: Server) -> None:
    """No episode whose process runs ends, however its work tree went away."""
    removed, moved = (server.lab.worktree(name) for name in ("removed", "moved"))
    server.lab.git("worktree", "lock", str(moved))
    for name, folder in (("ann", removed), ("bob", moved), ("dan", server.lab.repo)):
        server.open(name, folder, pid=os.getpid())
    server.lab.git("worktree", "remove", "--force", str(removed))
    moved.rename(server.lab.base / "elsewhere")
    server.lab.git("config", "core.bare", "true")
    assert set(server.after(10)) == {"ann", "bob", "dan"}


@pytest.mark.parametrize("proc", ["no /proc", "no descriptors"])
def test_a_process_that_cannot_be_looked_at(server: Server, proc: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that can read nothing of a process ends no session."""
    server.open("ann", pid=os.getpid())
    with monkeypatch.context() as patch:
        if proc == "no /proc":
            patch.setattr(processes, "PROC", "/nowhere")
        else:
            patch.setattr(processes, "_read", _no_descriptor)
        assert server.after(10) == {"ann": "heard"}
    assert server.after(10) == {"ann": "heard"}


def test_unheard_for_a_week(server: Server) -> None:
    """An episode that never named a process ends after a week of silence, and its record and its lock say so."""
    server.open("ann")
    server.open("bob", pid=os.getpid())
    assert set(server.after(6.9 * 86_400)) == {"ann", "bob"}
    assert set(server.after(86_400)) == {"bob"}
    assert server.reasons() == {"ann": "not heard from for 7 days, and its process was never known"}
    assert server.board.life_of("ann") is Life.GONE


def test_git_that_does_not_answer(server: Server) -> None:
    """If git gives no answer, as after the repository was moved, no episode is closed."""
    server.open("ann", server.lab.worktree("topic"))
    server.lab.repo.rename(server.lab.base / "moved")
    assert server.after(10) == {"ann": "heard"}


def test_closed_ones_are_few(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the closed episodes as many as are stored are those that ended last, and older ones go with their tasks."""
    monkeypatch.setattr("brief.sessions.board.MOST_STORED", 5)
    for number in range(8):
        server.now += SECOND
        server.open(f"e{number:02}")
        server.board.set_task(f"e{number:02}", "some", (), None, server.now)
        server.board.close(f"e{number:02}", "done", server.now)
    assert [episode.id for episode in server.board.closed_episodes(100)] == [f"e{n:02}" for n in range(7, 2, -1)]
    with server.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM tasks").fetchone() == (5,)
    assert rows.get_episode(server.database, "e00") is None


def test_superseded_server_closes_nothing(server: Server) -> None:
    """Once a newer epoch is stored, a look ends with that, and the board stays as it was."""
    topic = server.lab.worktree("topic")
    server.open("ann", topic)
    Database(server.lab.state / "majordomus.db", epoch=2).close()
    server.lab.git("worktree", "remove", "--force", str(topic))
    with pytest.raises(SupersededError):
        server.after(10)
    assert [one.episode.id for one in server.board.open_episodes()] == ["ann"]
