"""The database goes from under a running server: what was acknowledged is stored, and what was lost is told."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brief.sessions.database import check_integrity
from hostile import FOREIGN, needs_root
from sandbox import Lab, until
from serving import ask, finish, has_ended, lease, serve


def _move(path: Path) -> None:
    away = path.parent / "away"
    away.mkdir()
    for each in path.parent.glob("majordomus.db*"):
        each.rename(away / each.name)


def _remove(path: Path) -> None:
    path.unlink()


def _remove_journal(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def _empty(path: Path) -> None:
    os.truncate(path, 0)


def _cut(path: Path) -> None:
    os.truncate(path, 8_192)


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(os.urandom(50_000))
    other.replace(path)


def _overwrite(path: Path) -> None:
    with open(path, "r+b") as file:
        file.write(os.urandom(path.stat().st_size))


def _empty_journal(path: Path) -> None:
    os.truncate(f"{path}-wal", 0)


def _cut_journal(path: Path) -> None:
    os.truncate(f"{path}-wal", 8_192)


def _overwrite_journal(path: Path) -> None:
    with open(f"{path}-wal", "r+b") as file:
        file.write(os.urandom(24_576))


CHANGES = pytest.mark.parametrize(
    "change",
    [
        _move,
        _remove,
        _remove_journal,
        _empty,
        _cut,
        _replace,
        _overwrite,
        _empty_journal,
        _cut_journal,
        _overwrite_journal,
    ],
)


def _served(lab: Lab) -> Any:
    """A server with one session that has a task."""
    process = serve(lab)
    assert ask(lab, "POST", "/episodes", {"session": "s", "pid": os.getpid()}).status == 200
    assert ask(lab, "POST", "/tasks", {"session": "s", "title": "before"}).status == 200
    return process


def _state(lab: Lab) -> dict[str, Any]:
    brief = ask(lab, "GET", "/brief", session="s").json()
    state: dict[str, Any] = next(one for one in brief["sections"] if one["name"] == "state")
    return state


@CHANGES
def test_the_next_question_tells_of_the_loss(change: Callable[[Path], None], lab: Lab) -> None:
    """The very next brief is partial with the reason, and the server ends in order without another look."""
    process = _served(lab)
    assert _state(lab)["status"] == "read"
    change(lab.state / "majordomus.db")
    state = _state(lab)
    assert state["status"] == "partial"
    assert "somebody changed it under a running server" in state["reason"]
    assert state["data"]["task"]["title"] == "before"
    assert finish(process) == (0, "", "")
    assert not (lab.state / "lease.json").exists()


@CHANGES
def test_ensure_replaces_the_server_at_once(change: Callable[[Path], None], lab: Lab) -> None:
    """`serve ensure` never says that a server is there which has lost what it stored."""
    process = _served(lab)
    change(lab.state / "majordomus.db")
    done = lab.majordomus("serve", "ensure")
    assert (done.returncode, done.stdout[:9]) == (0, "started: "), done
    assert finish(process)[0] == 0
    for words in (("brief",), ("serve", "status")):
        assert "majordomus.db" in lab.majordomus(*words).stdout or change is _remove_journal, words


@pytest.mark.parametrize("change", [_remove, _cut, _replace])
def test_a_command_that_writes_replaces_it_and_is_done(change: Callable[[Path], None], lab: Lab) -> None:
    """A server that lost its database takes no write: the next server does, and reports the loss."""
    process = _served(lab)
    change(lab.state / "majordomus.db")
    done = lab.majordomus("episode", "open", "--session", "after")
    assert done.returncode == 0, done
    assert has_ended(process.pid)
    assert "after" in [one["episode"]["id"] for one in ask(lab, "GET", "/episodes").json()["open"]]
    assert "majordomus.db" in lab.majordomus("brief").stdout


@pytest.mark.parametrize("change", [_empty_journal, _cut_journal, _overwrite_journal])
def test_no_write_is_taken_through_a_damaged_journal(change: Callable[[Path], None], lab: Lab) -> None:
    """The first one is refused, and what was stored before the last checkpoint stays readable."""
    process = _served(lab)
    change(lab.state / "majordomus.db")
    refused = ask(lab, "POST", "/tasks", {"session": "s", "title": "after"})
    assert (refused.status, refused.json()["kind"]) == (503, "EndingError")
    assert "majordomus.db-wal was overwritten or cut" in refused.json()["error"]
    assert finish(process)[0] == 0
    assert check_integrity(lab.state / "majordomus.db") is None
    assert list(lab.state.glob("majordomus.db.damaged-*"))


@needs_root
def test_a_database_that_is_given_away_is_not_written(lab: Lab) -> None:
    """It is another user's from then on: the write is refused, and the brief says whose it is."""
    process = _served(lab)
    os.chown(lab.state / "majordomus.db", FOREIGN, FOREIGN)
    refused = ask(lab, "POST", "/tasks", {"session": "s", "title": "after"})
    assert (refused.status, refused.json()["kind"]) == (503, "EndingError")
    assert f"belongs to uid {FOREIGN} now" in refused.json()["error"]
    assert finish(process)[0] == 0


def test_a_checkpoint_by_others_ends_nobody(lab: Lab) -> None:
    """If another program moves the journal into the database, writes are stored as before."""
    process = _served(lab)
    with contextlib.closing(sqlite3.connect(lab.state / "majordomus.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert ask(lab, "POST", "/tasks", {"session": "s", "title": "after"}).status == 200
    assert _state(lab)["status"] == "read"
    assert lab.majordomus("serve", "stop").returncode == 0
    finish(process)
    assert "after" in _titles(lab.state / "majordomus.db")


@pytest.mark.parametrize("change", [_remove, _empty, _empty_journal])
def test_after_a_loss_nobody_is_called_absent(change: Callable[[Path], None], lab: Lab) -> None:
    """After a loss the sessions are unknown until they are heard again: peers, state and both lists are partial."""
    process = _served(lab)
    change(lab.state / "majordomus.db")
    assert _state(lab)["status"] == "partial"
    finish(process)
    assert lab.majordomus("serve", "ensure").returncode == 0
    told = ask(lab, "GET", "/brief").json()
    assert {one["name"]: one["status"] for one in told["sections"] if one["name"] in ("state", "peers")} == {
        "state": "partial",
        "peers": "partial",
    }
    assert "peers 0…?" in told["line"]
    for words in (("peers", "list"), ("episode", "list")):
        done = lab.majordomus(*words)
        assert "majordomus.db" in done.stdout, words
        assert lab.majordomus(*words, "--strict").returncode == 10, words


def test_a_write_into_a_lost_database_does_nothing(lab: Lab) -> None:
    """It is refused as by a server that is not there, before anything of it is done."""
    process = _served(lab)
    _remove(lab.state / "majordomus.db")
    refused = ask(lab, "POST", "/tasks", {"session": "s", "title": "after"})
    assert (refused.status, refused.json()["kind"]) == (503, "EndingError")
    assert "majordomus.db is gone: somebody changed it under a running server" in refused.json()["error"]
    assert finish(process)[0] == 0


@pytest.mark.parametrize("change", [_remove, _replace])
def test_what_the_server_still_held_is_kept_aside(change: Callable[[Path], None], lab: Lab) -> None:
    """A database that is gone or was replaced is copied aside by the server that ends, whole, and the brief names it."""
    process = _served(lab)
    change(lab.state / "majordomus.db")
    assert _state(lab)["status"] == "partial"
    assert finish(process)[0] == 0
    (aside,) = (path for path in lab.state.glob("majordomus.db.damaged-*Z") if "before" in _titles(path))
    assert lab.majordomus("serve", "ensure").returncode == 0
    assert aside.name in lab.majordomus("brief").stdout


def _titles(path: Path) -> list[str]:
    """The titles of the tasks that are stored in a file."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [str(title) for (title,) in connection.execute("SELECT title FROM tasks")]


def test_a_journal_that_is_kept_aside_alone_is_named(lab: Lab) -> None:
    """If only the journal of a database is left, it is what can still be read."""
    journal = lab.state / "majordomus.db.damaged-20261011T090000Z-wal"
    process = serve(lab)
    process.terminate()
    finish(process)
    journal.touch()
    serve(lab)
    assert journal.name in lab.majordomus("brief").stdout


def test_a_session_start_replaces_it(lab: Lab) -> None:
    """The hook of a session that starts gets no answer from it, and starts the next one."""
    (lab.repo / ".ai/repo").mkdir(parents=True)
    (lab.repo / ".ai/repo/policy.yaml").write_text("version: 1\n")
    process = _served(lab)
    _remove(lab.state / "majordomus.db")
    given = json.dumps({"session_id": "new", "hook_event_name": "SessionStart", "cwd": str(lab.repo)})
    assert lab.majordomus("hook", "session-start", stdin=given).returncode == 0
    assert finish(process)[0] == 0
    until(lambda: (lab.state / "lease.json").exists() and lab.is_served())
    assert lease(lab)["pid"] != process.pid


def test_without_a_server_what_is_gone_is_not_called_empty(lab: Lab) -> None:
    """A database that was there and is gone, or is cut, leaves the state unread; nobody was proven to be absent."""
    for change in (_remove, _cut):
        process = _served(lab)
        process.terminate()
        finish(process)
        change(lab.state / "majordomus.db")
        brief = json.loads(lab.majordomus("brief", "--format", "json").stdout)
        state = next(one for one in brief["sections"] if one["name"] == "state")
        assert state["status"] == "unread", change
        assert "majordomus.db" in state["reason"]
        shutil.rmtree(lab.state)


def test_what_others_only_touch_ends_nobody(lab: Lab) -> None:
    """A file whose time was changed and whose content is whole is the database that it was."""
    process = _served(lab)
    os.utime(lab.state / "majordomus.db")
    assert _state(lab)["status"] == "read"
    assert ask(lab, "POST", "/tasks", {"session": "s", "title": "after"}).status == 200
    assert process.poll() is None


def test_a_cut_database_is_kept_aside(lab: Lab) -> None:
    """The next server moves it aside, and brief, status and doctor tell so until it is removed."""
    assert lab.majordomus("serve", "ensure").returncode == 0
    assert lab.majordomus("serve", "stop").returncode == 0
    os.truncate(lab.state / "majordomus.db", 8_192)
    assert lab.majordomus("serve", "ensure").returncode == 0
    (aside,) = lab.state.glob("majordomus.db.damaged-*")
    for words in (("brief",), ("serve", "status"), ("doctor",)):
        assert aside.name in lab.majordomus(*words).stdout, words
    assert lab.majordomus("serve", "stop").returncode == 0
    assert lab.majordomus("serve", "ensure").returncode == 0
    assert any(aside.name in note for note in json.loads(lab.majordomus("brief", "--format", "json").stdout)["notes"])
    aside.unlink()
    assert lab.majordomus("serve", "stop").returncode == 0
    assert lab.majordomus("serve", "ensure").returncode == 0
    assert f"kept aside: {aside}" not in lab.majordomus("brief").stdout
