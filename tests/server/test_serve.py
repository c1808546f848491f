from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brief.core.model.section_data import EpisodeState
from brief.core.policy.names import POLICY_FILE
from brief.sessions.board import Board
from brief.sessions.database import Database
from brief.sessions.episodes import open_episodes
from sandbox import Lab, until
from serving import (
    FAST_LOOKS,
    SIGNAL_BEFORE,
    answers,
    ask,
    finish,
    has_ended,
    launch,
    lease,
    left_behind,
    python,
    serve,
    write_policy,
)

_FOREGROUND = "from brief.cli.main import main; sys.exit(main(['serve', 'run']))"

_AN_HOUR_A_TICK = (
    FAST_LOOKS
    + """
import time, types
holder.time = types.SimpleNamespace(monotonic=lambda: time.monotonic() * 3_600)
"""
)
"""A server for which an hour passes in a second."""


def test_what_a_server_makes_is_its_users_alone(lab: Lab) -> None:
    """The socket has mode 0600, its folders 0700, and so have the entry and the log."""
    serve(lab, spawn=True)
    path = Path(lease(lab)["socket"])
    servers = path.parent / "servers"
    (entry,) = servers.iterdir()
    modes = {p: stat.S_IMODE(p.stat().st_mode) for p in (path, path.parent, servers, entry, lab.state / "server.log")}
    assert list(modes.values()) == [0o600, 0o700, 0o700, 0o600, 0o600]
    assert stat.S_ISSOCK(path.stat().st_mode)
    assert len(os.fsencode(path)) <= 104


def test_the_entry_tells_clones_of_the_server(lab: Lab) -> None:
    """The entry below servers/ agrees with the lease."""
    serve(lab)
    record = lease(lab)
    entry = json.loads((Path(record["socket"]).parent / f"servers/{record['epoch']}.json").read_text())
    assert entry.pop("schema") == "majordomus.server/v1"
    shared = entry.keys() & record.keys()
    assert shared >= {"common_dir", "epoch", "pid", "process_start", "boot_id", "socket", "version", "since"}
    assert {name: entry[name] for name in shared} == {name: record[name] for name in shared}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_ended_server_leaves_nothing(number: signal.Signals, lab: Lab) -> None:
    """A signal ends it with code 0, and lease, socket and entry are gone."""
    process = serve(lab, spawn=True)
    assert len(left_behind(lab)) == 3
    process.send_signal(number)
    assert finish(process) == (0, "", "")
    assert left_behind(lab) == []


@pytest.mark.parametrize(
    "place",
    [
        "brief.server.lease:Lease.take",
        "brief.server.app:serve",
        "brief.server.app:bind_unix",
        "brief.server.lease:Lease.publish",
        "brief.server.web:WebServer.main_loop",
        "brief.server.web:WebServer.shutdown",
    ],
)
def test_a_server_that_is_ended_while_it_starts_leaves_nothing(place: str, lab: Lab) -> None:
    """Wherever SIGTERM finds it, it ends in order: code 0, no traceback, no file."""
    patch = SIGNAL_BEFORE.format(place=place, number=int(signal.SIGTERM))
    process = launch(lab, patch, spawn=True)
    if place.endswith("shutdown"):
        until(lambda: answers(lab))
        process.terminate()
    assert finish(process) == (0, "", "")
    assert left_behind(lab) == []


def test_a_hangup_ends_no_detached_server(lab: Lab) -> None:
    """It outlives the terminal it was started from."""
    process = serve(lab, spawn=True)
    os.kill(process.pid, signal.SIGHUP)
    assert ask(lab, "GET", "/server").status == 200
    process.terminate()
    assert finish(process)[0] == 0


def test_in_the_foreground_a_hangup_is_an_end(lab: Lab) -> None:
    """A terminal that is closed takes the server with it, and nothing is left behind."""
    # Whoever runs the tests may have them ignore hangups, and what is ignored is inherited.
    process = python(lab, "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)\n" + _FOREGROUND)
    until(lambda: answers(lab))
    process.send_signal(signal.SIGHUP)
    code, out, err = finish(process)
    assert (code, out, left_behind(lab)) == (0, "", [])
    events = [json.loads(line)["event"] for line in err.splitlines()]
    assert (events[0], events[-1]) == ("serving", "ended")


def test_an_ignored_hangup_stays_ignored(lab: Lab) -> None:
    """`nohup majordomus serve run` means what it says."""
    process = python(lab, "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + _FOREGROUND)
    until(lambda: answers(lab))
    process.send_signal(signal.SIGHUP)
    assert ask(lab, "GET", "/server").status == 200
    process.terminate()
    assert finish(process)[0] == 0


def test_a_second_server_in_the_foreground_is_refused(lab: Lab) -> None:
    """`serve run` where somebody holds fails and names the command that tells who."""
    serve(lab)
    told = lab.majordomus("serve", "run")
    assert (told.returncode, told.stdout) == (1, "")
    assert f"another server holds {lab.common_dir}; see majordomus serve status" in told.stderr


def test_stopping_is_idempotent(lab: Lab) -> None:
    """The first stop ends the server and leaves nothing, the second has nothing to do; both succeed."""
    process = serve(lab)
    first, second = lab.majordomus("serve", "stop"), lab.majordomus("serve", "stop")
    assert (first.returncode, first.stdout.startswith(f"stopped: pid {process.pid}")) == (0, True)
    assert left_behind(lab) == []
    assert (second.returncode, second.stdout.startswith("nothing to stop: no server holds this")) == (0, True)
    assert finish(process)[0] == 0


def test_status_is_told_as_text_and_as_json(lab: Lab) -> None:
    """`serve status` says who holds, and exits 1 where nobody does."""
    none = lab.majordomus("serve", "status")
    assert (none.returncode, "no server holds this repository" in none.stderr) == (1, True)
    process = serve(lab)
    told = json.loads(lab.majordomus("serve", "status", "--format", "json").stdout)
    assert (told["pid"], told["lease"], told["common_dir"]) == (process.pid, "holds", lab.common_dir)
    assert told["epoch"] == lease(lab)["epoch"]
    assert f"pid {process.pid} holds {lab.common_dir}" in lab.majordomus("serve", "status").stdout


def test_a_server_that_nobody_calls_ends(lab: Lab) -> None:
    """After `server.idle_minutes` without a call it goes, and leaves nothing."""
    write_policy(lab, "version: 1\nserver:\n  idle_minutes: 1\n")
    process = launch(lab, _AN_HOUR_A_TICK)
    assert finish(process) == (0, "", "")
    assert left_behind(lab) == []
    events = [json.loads(line) for line in (lab.state / "server.log").read_text().splitlines()]
    assert [e["event"] for e in events] == ["serving", "ending", "ended"]
    assert events[1]["reason"] == "nobody called"


def test_a_session_that_nobody_closes_keeps_no_server(lab: Lab) -> None:
    """An episode that is to be woken, and whose client is gone without a word, keeps no server; it stays open for the next."""
    lab.commit()
    lab.state.mkdir()
    write_policy(lab, "version: 1\nserver:\n  idle_minutes: 1\nsession:\n  brief_on_interval: true\n")
    with contextlib.closing(Database(lab.state / "majordomus.db", epoch=1)) as database:
        here, now = str(lab.repo), datetime.now(UTC)
        Board(database).open(
            "e1", provider="codex", checkout=here, branch=None, process=None, state=EpisodeState.IDLE, now=now
        )
    assert finish(launch(lab, _AN_HOUR_A_TICK))[0] == 0
    with contextlib.closing(Database(lab.state / "majordomus.db", epoch=None)) as database:
        assert [episode.is_open for episode in open_episodes(database)] == [True]


def test_a_server_with_a_port_in_use_answers_by_its_socket(lab: Lab) -> None:
    """Two clones may trust one port: whoever comes second has no TCP, says so in its log, and serves."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        write_policy(lab, f"version: 1\nserver:\n  port: {port}\n")
        assert lab.majordomus("trust").returncode == 0
        serve(lab)
    assert lease(lab)["tcp"] is None
    events = [json.loads(line) for line in (lab.state / "server.log").read_text().splitlines()]
    assert [(e["event"], e["reason"]) for e in events if "reason" in e] == [("TCP is off", "Address already in use")]


def test_a_port_that_nobody_trusts_is_not_opened(lab: Lab) -> None:
    """Cloning a repository opens no port, whatever its policy asks for; the brief says what is not in force."""
    write_policy(lab, "version: 1\nserver:\n  port: 47123\n")
    serve(lab)
    assert lease(lab)["tcp"] is None
    assert "server.port" in lab.majordomus("brief").stdout


def test_a_policy_that_cannot_be_read_keeps_nobody_from_serving(lab: Lab) -> None:
    """A faulty policy is named in the brief, and the defaults hold."""
    write_policy(lab, "server: [\n")
    serve(lab)
    assert POLICY_FILE in lab.majordomus("brief").stdout


def test_a_client_that_hangs_holds_up_nobody(lab: Lab) -> None:
    """Half a request, half a body or none at all: others are answered, and the server ends all the same."""
    process = serve(lab, "import brief.server.web as web; web.GRACE_SECONDS = 0.3")
    path = lease(lab)["socket"]
    halves = (
        b"",
        b"GET /api/v1/brief HTTP/1.1\r\nhost:",
        b"POST /api/v1/tasks HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
    )
    hanging = []
    for half in halves:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        connection.sendall(half)
        hanging.append(connection)
    assert ask(lab, "GET", "/brief").status == 200
    process.terminate()
    assert finish(process)[:2] == (0, "")
    assert left_behind(lab) == []
    for connection in hanging:
        connection.close()


def test_a_call_under_way_is_answered_before_the_end(lab: Lab) -> None:
    """`serve stop` cuts nobody off: who asked before gets the answer."""
    slow = """
import asyncio
from brief.service import RepositoryService
real = RepositoryService.brief
async def late(self, *args, **named):
    open(sys.argv[2] + "/asked", "w").close()
    await asyncio.sleep(0.5)
    return await real(self, *args, **named)
RepositoryService.brief = late
"""
    process = serve(lab, slow)
    with ThreadPoolExecutor() as callers:
        answer = callers.submit(ask, lab, "GET", "/brief")
        until((lab.repo / "asked").exists)
        process.terminate()
        assert answer.result().json()["schema"] == "majordomus.brief/v1"
    assert finish(process)[0] == 0


def test_a_removed_lease_file_is_written_again(lab: Lab) -> None:
    """A holder whose file was removed is found again after its next look, and nobody has to end it."""
    process = serve(lab, FAST_LOOKS)
    before = lease(lab)
    (lab.state / "lease.json").unlink()
    until((lab.state / "lease.json").exists)
    assert lease(lab) == before
    process.terminate()
    assert finish(process)[0] == 0
    assert left_behind(lab) == []
    assert has_ended(process.pid)
