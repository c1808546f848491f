"""Servers that are killed, or lose what they store in, under eight writers: no acknowledged write is lost, none in silence."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from brief.fastpath.lease import NoServerError
from sandbox import Lab, until
from serving import ask, finish, serve

WRITERS = 8
ROUNDS = 4


class Writers:
    """Eight threads that write, whoever serves, and note what was acknowledged."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._ended = threading.Event()
        self.acknowledged: list[str] = []
        self._threads = [threading.Thread(target=self._write, args=(f"w{number}",)) for number in range(WRITERS)]

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Write while the block runs."""
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            for thread in self._threads:
                thread.join()

    def wait_for(self, more: int) -> None:
        """Wait until so many more writes were acknowledged."""
        least = len(self.acknowledged) + more
        until(lambda: len(self.acknowledged) >= least)

    def _write(self, session: str) -> None:
        number = 0
        while not self._ended.is_set():
            number += 1
            title = f"{session} {number}"
            with contextlib.suppress(NoServerError, OSError):
                ask(self._lab, "POST", "/episodes", {"session": session, "pid": os.getpid()})
                if ask(self._lab, "POST", "/tasks", {"session": session, "title": title}).status == 200:
                    self.acknowledged.append(title)


def kill(process: Any, _: Path) -> None:
    """The server is killed."""
    process.kill()


def remove(_: Any, path: Path) -> None:
    """The database is removed under the server."""
    path.unlink()


def empty_journal(_: Any, path: Path) -> None:
    """The journal is emptied under the server."""
    os.truncate(f"{path}-wal", 0)


def remove_journal(_: Any, path: Path) -> None:
    """The journal is removed under the server."""
    Path(f"{path}-wal").unlink()


def remove_index(_: Any, path: Path) -> None:
    """The index of the journal is removed under the server, and another program then moves the journal into the database."""
    Path(f"{path}-shm").unlink()
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path, timeout=0)) as other:
        other.execute("PRAGMA wal_checkpoint(PASSIVE)")


@pytest.mark.parametrize("fault", [kill, remove, empty_journal, remove_journal, remove_index])
def test_every_acknowledged_write_is_stored_or_kept(fault: Callable[[Any, Path], None], lab: Lab) -> None:
    """Each is in the database, or in what was kept aside of one that was lost; and then the brief says that one was."""
    path, writers, chance = lab.state / "majordomus.db", Writers(lab), random.Random(7)
    process = serve(lab)
    with writers.writing():
        for _ in range(ROUNDS):
            writers.wait_for(chance.randrange(10, 60))
            fault(process, path)
            finish(process)
            process = serve(lab)
            (state,) = (one for one in ask(lab, "GET", "/brief").json()["sections"] if one["name"] == "state")
            assert state["status"] == ("read" if fault is kill else "partial")
    process.terminate()
    finish(process)
    stored = _titles(path)
    for kept in lab.state.glob("majordomus.db.damaged-*"):
        stored |= set() if kept.name.endswith(("-wal", "-shm")) else _titles(kept)
    assert set(writers.acknowledged) - stored == set()


def _titles(path: Path) -> set[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {str(title) for (title,) in connection.execute("SELECT title FROM tasks")}
