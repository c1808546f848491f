"""A server that lost its lease writes nothing more: no table, notice, line, log, entry or archive."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from brief.clones.entries import read_entries
from brief.core.model.errors import SupersededError
from brief.fastpath.lease import socket_name
from brief.notices.archiving import archive
from brief.notices.read_receipts import mark_seen, prune_seen
from brief.notices.writing import create_notice, set_done
from brief.server import log as logs
from brief.sessions.board import Board
from brief.sessions.database import Database
from brief.support import files
from brief.support.fence import held_by, refuse_if_superseded
from sandbox import Lab
from serving import FAST_LOOKS, ask, exchange, lease, leave_notice, serve

NOW = datetime(2026, 10, 11, 9, tzinfo=UTC)
NOTICE = "---\nkind: courtesy\nstatus: active\n---\n# words\n"


def tree(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """The files of a folder except the log, by name: when they were written, and their content."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
        if not path.name.startswith("server.log") and path.name != "majordomus.db-shm"
    }


def _noticed(state: Path) -> Path:
    active = state / "notices/active"
    active.mkdir(parents=True)
    (active / "words.md").write_text(NOTICE)
    return active.parent


def _writes(state: Path) -> dict[str, Callable[[], object]]:
    """Every way in which a server changes a file, tried by name."""
    notices = str(_noticed(state))
    board = Board(Database(state / "majordomus.db", epoch=1))
    (state / "seen").mkdir()
    old = state / "seen" / ("0" * 32)
    old.touch()
    (state / "servers").mkdir()
    (state / "servers/1.json").write_text(json.dumps(_gone(state)))
    return {
        "replace": lambda: files.replace(state / "observation.json", b"{}"),
        "create": lambda: files.create(state / "new", b"{}"),
        "notice": lambda: create_notice(notices, {"title": "more"}, "", NOW),
        "done": lambda: set_done((notices,), "words", NOW, ZoneInfo("UTC")),
        "archive": lambda: archive(notices, ["words"], even_tracked=True),
        "seen": lambda: mark_seen(str(state), "s", ["words"]),
        "prune": lambda: prune_seen(str(state), datetime(2099, 1, 1, tzinfo=UTC)),
        "entries": lambda: read_entries(str(state / "servers")),
        "database": lambda: board.wakes.pause_all(NOW),
    }


def _gone(state: Path) -> dict[str, object]:
    """The entry of a server that has ended."""
    return {
        "schema": "majordomus.server/v1",
        "epoch": 1,
        "pid": 2**31 - 1,
        "process_start": 1,
        "boot_id": None,
        "common_dir": f"{state}/gone",
        "socket": f"{state}/{socket_name(f'{state}/gone', 1)}",
        "version": "0",
        "since": "2026-10-11T09:00:00Z",
    }


def test_every_way_to_write_is_fenced(tmp_path: Path) -> None:
    """Without the lease none of them changes a file or leaves one behind, and with it each works."""
    writes = _writes(tmp_path)
    before = tree(tmp_path)
    with held_by(lambda: False):
        for name, write in writes.items():
            with contextlib.suppress(SupersededError):
                write()
            assert tree(tmp_path) == before, name
    with held_by(lambda: True):
        for name, write in writes.items():
            before = tree(tmp_path)
            write()
            assert tree(tmp_path) != before, name


@pytest.mark.parametrize("name", ["replace", "create", "done", "archive", "seen"])
def test_a_lease_that_is_lost_in_the_midst_of_a_write(name: str, tmp_path: Path) -> None:
    """A write begun under the lease is not made visible after its loss: the lease is checked right before."""
    writes = _writes(tmp_path)
    write = writes[name]
    held = iter([True])
    before = tree(tmp_path)
    with held_by(lambda: next(held, False)):
        try:
            write()
        except SupersededError:
            pass
        else:
            assert name == "archive"  # which tells it as its reason
    after = tree(tmp_path)
    assert {path: held for path, held in after.items() if held[1]} == {
        path: held for path, held in before.items() if held[1]
    }


def test_a_full_log_is_not_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the holder renames the log files of a repository."""
    monkeypatch.setattr(logs, "MOST_BYTES", 200)
    handler = logs._file_handler(tmp_path / "server.log")
    record = logging.makeLogRecord({"msg": "x" * 150})
    with held_by(lambda: False):
        for _ in range(3):
            handler.emit(record)
    assert [path.name for path in tmp_path.iterdir()] == ["server.log"]
    handler.emit(record)
    handler.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["server.log", "server.log.1"]


def test_who_serves_nobody_may_write() -> None:
    """A command holds no lease and is never refused."""
    refuse_if_superseded()
    with held_by(lambda: False), pytest.raises(SupersededError, match="no longer holds its repository"):
        refuse_if_superseded()
    refuse_if_superseded()


def test_a_replaced_server_changes_no_file_before_its_next_look(lab: Lab) -> None:
    """As soon as another server holds the lease, every call is answered and none writes."""
    leave_notice(lab, "words", NOTICE)
    serve(lab, FAST_LOOKS.replace("0.05", "600.0"))
    assert ask(lab, "POST", "/episodes", {"session": "s"}).status == 200
    old = lease(lab)["socket"]
    (lab.state / "lease.lock").unlink()
    (lab.state / "lease.json").unlink()
    lab.start_server()
    assert lab.majordomus("serve", "stop").returncode == 0
    before = tree(lab.state)
    root = str(lab.repo)
    for path, body in (
        ("/alerts", {"title": "more"}),
        ("/alerts/done", {"slug": "words"}),
        ("/locks", {"component": "koda", "title": "hands off", "session": "1" * 8 + "-1111-4111-8111-" + "1" * 12}),
        ("/queue", {}),
        ("/tasks", {"session": "s", "title": "t"}),
        ("/hooks", {"session": "s", "event": "session-start"}),
        ("/hooks", {"session": "s", "event": "user-prompt-submit"}),
    ):
        said = _posted(old, path, {"root": root, **body})
        assert b" 409 " in said.split(b"\r\n", 1)[0], (path, said)
    request = f"GET /api/v1/brief?root={root}&session=s&format=json HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    told = json.loads(exchange(old, request.encode()).partition(b"\r\n\r\n")[2])
    assert told["answered_by"]["kind"] == "superseded"
    assert tree(lab.state) == before


def _posted(socket: str, path: str, body: dict[str, object]) -> bytes:
    payload = json.dumps(body).encode()
    head = f"POST /api/v1{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n"
    return exchange(socket, f"{head}content-length: {len(payload)}\r\n\r\n".encode() + payload)
