"""What a server stands on may be broken: its database, its disk, its descriptors, its clock; and it may have much to tell."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import serving
from brief.sessions.schema import SCHEMA_VERSION
from cli_helpers import brief, command, section
from sandbox import Lab, until
from serving import FAST_LOOKS, ask, lease, serve

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _nothing_outlives() -> Iterator[None]:
    """End and wait for what the test started itself."""
    yield
    serving.end_all()


def database(lab: Lab) -> Path:
    """Where the database is."""
    return lab.state / "majordomus.db"


def stored(lab: Lab) -> None:
    """A repository with a commit, and an episode that a server stored before it ended."""
    lab.commit()
    assert lab.majordomus("episode", "open", "--session", "kept").returncode == 0
    assert lab.majordomus("serve", "stop").returncode == 0


def opened(lab: Lab, session: str) -> tuple[int, str]:
    """How the opening of an episode went: exit code and what was said of it."""
    done = lab.majordomus("episode", "open", "--session", session)
    return done.returncode, done.stderr


def episodes(lab: Lab) -> list[str]:
    """Who is open, by the server's word."""
    return [known["episode"]["id"] for known in ask(lab, "GET", "/episodes").json()["open"]]


# ---------------------------------------------------------------- the database

LOCKER = """
import sqlite3, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
if sys.argv[2] == "everybody":
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
connection.execute("BEGIN EXCLUSIVE")
connection.execute("UPDATE meta SET value = value")
print("locked", flush=True)
time.sleep(600)
"""


@contextlib.contextmanager
def locked(lab: Lab, whom: str) -> Iterator[None]:
    """Another process keeps writers, or everybody, from the database."""
    locker = serving.python(lab, LOCKER, str(database(lab)), whom)
    assert locker.stdout is not None
    assert locker.stdout.readline() == "locked\n"
    try:
        yield
    finally:
        locker.kill()
        locker.wait()


def test_database_that_another_process_locks(lab: Lab) -> None:
    """A server whose database is locked answers all that is asked, refuses what is to be written, and then goes on."""
    stored(lab)
    serve(lab)
    with locked(lab, "writers"):
        told = brief(lab)
        assert (told["answered_by"]["kind"], section(told, "state")["status"]) == ("lease-holder", "read")
        code, said = opened(lab, "late")
        assert (code, "majordomus.db cannot be used (database is locked)" in said) == (1, True)
        assert episodes(lab) == ["kept"]
    assert opened(lab, "late")[0] == 0
    assert episodes(lab) == ["kept", "late"]


@pytest.mark.parametrize(("whom", "state"), [("writers", "read"), ("everybody", "unread")])
def test_database_that_is_locked_at_the_start(lab: Lab, whom: str, state: str) -> None:
    """No server starts over a locked database, which is told; a brief comes, and says of the board what could be read."""
    stored(lab)
    with locked(lab, whom):
        done = lab.majordomus("serve", "ensure")
        assert (done.returncode, "majordomus.db cannot be used (database is locked)" in done.stderr) == (1, True)
        told = brief(lab)
        assert section(told, "state")["status"] == state
        assert section(told, "peers")["status"] == "unread"
    assert lab.majordomus("serve", "ensure").returncode == 0
    assert episodes(lab) == ["kept"]


def cut(path: Path) -> None:
    """Half of the database is gone."""
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    """Nothing of it is left but its name."""
    path.write_bytes(b"SQLite format 3\0")


def newer(path: Path) -> None:
    """A later majordomus has changed it."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 7")


DAMAGE: list[tuple[Callable[[Path], None], str]] = [
    (
        newer,
        f"has schema 7 and this majordomus knows {SCHEMA_VERSION}; use the newer majordomus, or move the file away to start afresh",
    ),
]


@pytest.mark.parametrize(("damage", "way_back"), DAMAGE)
def test_database_that_cannot_be_used(lab: Lab, damage: Callable[[Path], None], way_back: str) -> None:
    """No server starts, nothing is taken for an empty board, the file stays as it is, and the way back works."""
    stored(lab)
    damage(database(lab))
    before = database(lab).read_bytes()
    done = lab.majordomus("serve", "ensure")
    assert (done.returncode, way_back in done.stderr) == (1, True), done.stderr
    assert opened(lab, "new")[0] == 1
    told = brief(lab)
    assert section(told, "state")["status"] == "unread"
    assert way_back in section(told, "state")["reason"]
    assert section(told, "alerts")["status"] == "read"
    assert database(lab).read_bytes() == before
    assert lab.processes() == []
    database(lab).rename(lab.base / "aside")
    assert opened(lab, "new")[0] == 0
    assert episodes(lab) == ["new"]


@pytest.mark.parametrize("damage", [cut, emptied])
def test_damaged_database_is_kept_aside(lab: Lab, damage: Callable[[Path], None]) -> None:
    """A server begins a new database, keeps the damaged one as it was, and the brief names it."""
    stored(lab)
    damage(database(lab))
    before = database(lab).read_bytes()
    assert lab.majordomus("serve", "ensure").returncode == 0
    (kept,) = lab.state.glob("majordomus.db.damaged-*")
    assert kept.read_bytes() == before
    assert kept.name in lab.majordomus("brief").stdout
    assert opened(lab, "new")[0] == 0
    assert episodes(lab) == ["new"]


def test_database_that_is_cut_under_a_server(lab: Lab) -> None:
    """It gives way to one that takes the write; what was stored is kept aside, and the brief names where."""
    stored(lab)
    serve(lab)
    assert opened(lab, "here")[0] == 0
    with contextlib.closing(sqlite3.connect(database(lab))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    os.truncate(database(lab), 4_096)
    told = section(brief(lab), "state")
    assert (told["status"], "was cut from" in told["reason"]) == ("partial", True)
    assert opened(lab, "late") == (0, "")
    assert episodes(lab) == ["late"]
    (kept,) = lab.state.glob("majordomus.db.damaged-*T*Z")
    assert kept.name in lab.majordomus("brief").stdout


# ---------------------------------------------------------------- the disk


@pytest.fixture
def small_disk(lab: Lab) -> Iterator[Path]:
    """A repository whose state lies on a disk of 512 kB of its own; the path of a file that fills it once written."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a disk")
    lab.commit()
    lab.state.mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k,mode=700", "tmpfs", lab.state], check=True)
    try:
        yield lab.state / "filler"
    finally:
        serving.end_all()
        subprocess.run(["umount", "--lazy", lab.state], check=True)


def fill(filler: Path) -> None:
    """Write until the disk is full."""
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4_096))


def test_full_disk_at_the_start(lab: Lab, small_disk: Path) -> None:
    """Where nothing can be stored no server starts, with the reason; a brief comes, and with room again all goes on."""
    fill(small_disk)
    done = lab.majordomus("serve", "ensure")
    assert done.returncode == 1
    assert "cannot be written (No space left on device)" in done.stderr
    assert brief(lab)["answered_by"]["kind"] == "self"
    small_disk.unlink()
    assert opened(lab, "new") == (0, "")
    assert episodes(lab) == ["new"]


def test_disk_that_fills_up_under_a_server(lab: Lab, small_disk: Path) -> None:
    """A server on a full disk answers, refuses what it cannot store, and stores again once there is room."""
    held = serve(lab, FAST_LOOKS)
    assert opened(lab, "here") == (0, "")
    fill(small_disk)
    said = [opened(lab, f"late{number}") for number in range(3)]
    refused = [text for code, text in said if code]
    assert refused, said
    assert all("its disk is full; free space and try again: nothing stored is lost" in text for text in refused), (
        refused
    )
    told = brief(lab)
    assert (told["answered_by"]["kind"], section(told, "state")["status"]) == ("lease-holder", "read")
    assert command(lab, "brief", "--line").returncode == 0
    small_disk.unlink()
    assert opened(lab, "after") == (0, "")
    held.terminate()
    assert serving.finish(held)[0] == 0
    serve(lab)
    assert {"here", "after"} <= set(episodes(lab))


# ---------------------------------------------------------------- descriptors

FEW = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))"

NONE_LEFT_TO_READERS = """
import contextlib, os
import brief.compose as compose
import brief.notices.store as store
@contextlib.contextmanager
def starving():
    taken = []
    try:
        while os.path.exists(sys.argv[2] + "/starve"):
            taken.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    try:
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)
read, read_signed = compose.Composer.read, store.NoticeStore.read_signed
async def starved(self, *args, **named):
    with starving():
        return await read(self, *args, **named)
def starved_notices(self):
    with starving():
        return read_signed(self)
compose.Composer.read = starved
store.NoticeStore.read_signed = starved_notices
"""


def test_callers_that_take_every_descriptor(lab: Lab) -> None:
    """While idle connections take all descriptors of a server commands answer by themselves, and then it answers again."""
    lab.commit()
    serve(lab, FEW)
    path = lease(lab)["socket"]
    with contextlib.ExitStack() as connections:
        for _ in range(40):
            connection = connections.enter_context(socket.socket(socket.AF_UNIX))
            connection.connect(path)
        told = brief(lab)
        assert told["answered_by"]["kind"] == "self"
        assert "holds and is silent" in told["answered_by"]["reason"]
    until(lambda: serving.answers(lab))
    assert brief(lab)["answered_by"]["kind"] == "lease-holder"


def test_readers_without_descriptors(lab: Lab) -> None:
    """A section whose files cannot be opened for want of descriptors is unread with the reason, never empty."""
    lab.commit()
    serving.leave_notice(lab)
    serve(lab, FEW + "\n" + NONE_LEFT_TO_READERS)
    (lab.state / "derive.json").write_text("{}")  # a missing file is found to be missing without a descriptor
    assert section(brief(lab), "alerts")["status"] == "read"
    (lab.repo / "starve").touch()
    serving.leave_notice(lab, "second")
    told = brief(lab)
    assert told["answered_by"]["kind"] == "lease-holder"
    for name in ("alerts", "derive"):
        assert section(told, name)["status"] != "read", section(told, name)
        assert section(told, name)["reason"]
    (lab.repo / "starve").unlink()
    serving.leave_notice(lab, "third")
    assert section(brief(lab), "alerts")["status"] == "read"


@pytest.mark.parametrize("most", [6, 7, 8, 10, 12])
def test_command_without_descriptors(lab: Lab, most: int) -> None:
    """A command that may open few files says of each section what it could not read, and takes nothing for empty."""
    lab.commit()
    serving.leave_notice(lab)
    done = subprocess.run(
        ["prlimit", f"--nofile={most}", "--", sys.executable, "-m", "brief", "brief", "--format", "json"],
        cwd=lab.repo,
        env=lab.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    alerts = section(json.loads(done.stdout), "alerts")
    if alerts["status"] == "read":
        assert [one["slug"] for one in alerts["data"]["shown"]] == ["lock"]
    else:
        assert "Too many open files" in alerts["reason"]


# ---------------------------------------------------------------- the clock

CLOCK = """
from datetime import timedelta
import brief.support.wall_clock as wall_clock
def stepped(real=wall_clock.utc_now):
    try:
        days = float(open(sys.argv[2] + "/days").read())
    except (OSError, ValueError):
        days = 0.0
    return real() + timedelta(days=days)
wall_clock.utc_now = stepped
import brief.server.holder as holder
holder.TICK_SECONDS = 0.05
"""


@pytest.mark.parametrize("days", ["1", "-1"])
def test_clock_that_is_stepped_between_two_briefs(lab: Lab, days: str) -> None:
    """A day forward or back costs no answer and no episode; the new brief has the new time, and who speaks is heard."""
    lab.commit()
    serve(lab, CLOCK)
    ask(lab, "POST", "/episodes", {"session": "here", "state": "busy"})
    before = ask(lab, "GET", "/brief", session="here").json()
    (lab.repo / "days").write_text(days)
    serving.leave_notice(lab)
    after = ask(lab, "GET", "/brief", session="here").json()
    assert (after["generated_at"] > before["generated_at"]) == (days == "1")
    assert after["unread"] == before["unread"]
    assert section(after, "state")["data"]["episode"]["liveness"] == "heard"
    ask(lab, "GET", "/state", session="here")
    assert episodes(lab) == ["here"]
    assert ask(lab, "GET", "/server").status == 200
    assert "lock on koda" in section(after, "alerts")["rows"][0]["text"]


# ---------------------------------------------------------------- a thousand


def test_a_thousand_episodes(lab: Lab) -> None:
    """A board of a thousand sessions is told whole as data, in bounded text, in time, and is known to the next server."""
    lab.commit()
    held = serve(lab)
    for number in range(1_000):
        assert ask(lab, "POST", "/episodes", {"session": f"s{number:04}"}).status == 200
    told = brief(lab)
    peers = section(told, "peers")
    assert (peers["status"], peers["data"]["count"], len(peers["data"]["peers"])) == ("read", 1_000, 1_000)
    text = command(lab, "brief")
    assert (text.returncode, text.stderr) == (0, "")
    assert "peers 1000" in command(lab, "brief", "--line").stdout
    assert len(command(lab, "brief", "--format", "prompt", "--budget", "10000").stdout.encode()) <= 10_000
    assert "s0999" in command(lab, "peers", "list").stdout
    held.terminate()
    assert serving.finish(held)[0] == 0
    serve(lab)
    assert len(episodes(lab)) == 1_000
