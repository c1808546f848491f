"""What a server tells after a loss, however often it is started again, whatever its clock says, and whoever was killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brief.sessions.losses import read_lock_record
from sandbox import Lab, until
from serving import FAST_LOOKS, ask, finish, serve

BEFORE_LONG = f"""
from datetime import timedelta
import brief.core.sessions.life as life
life.SILENT_AFTER = timedelta(seconds=0.3)
{FAST_LOOKS}
"""
"""A server to which every session that lives must have been heard after a third of a second."""

CLOCK = """
from datetime import timedelta
import brief.support.wall_clock as wall_clock
real = wall_clock.utc_now
wall_clock.utc_now = lambda: real() + timedelta(days={days})
"""
"""A server whose clock was set."""


def database(lab: Lab) -> Path:
    """The path of the database."""
    return lab.state / "majordomus.db"


def begun(lab: Lab, patch: str = "") -> Any:
    """A server with one session that has a task."""
    process = serve(lab, patch)
    assert ask(lab, "POST", "/episodes", {"session": "s", "pid": os.getpid()}).status == 200
    assert ask(lab, "POST", "/tasks", {"session": "s", "title": "before"}).status == 200
    return process


def stop(process: Any) -> None:
    """End a server in order."""
    process.terminate()
    finish(process)


def kill(process: Any) -> None:
    """End a server as a crash does."""
    process.send_signal(signal.SIGKILL)
    finish(process)


def told(lab: Lab) -> dict[str, Any]:
    """State and peers of the brief that a server composes."""
    brief = ask(lab, "GET", "/brief").json()
    return {one["name"]: one for one in brief["sections"] if one["name"] in ("state", "peers")}


def statuses(lab: Lab) -> set[str]:
    """The statuses of both."""
    return {one["status"] for one in told(lab).values()}


def titles(path: Path) -> list[str]:
    """The titles of the tasks in a file."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [str(title) for (title,) in connection.execute("SELECT title FROM tasks ORDER BY number")]


def kept(lab: Lab) -> list[str]:
    """The names of all that is kept aside."""
    return sorted(path.name for path in lab.state.glob("majordomus.db.damaged-*"))


def lose_without_server(lab: Lab, process: Any) -> None:
    """The database goes while no server runs."""
    stop(process)
    database(lab).unlink()


def lose_under_server(lab: Lab, process: Any) -> None:
    """The database goes under a server, which ends."""
    database(lab).unlink()
    told(lab)
    finish(process)


def replace_under_server(lab: Lab, process: Any) -> None:
    """Another database, which is whole, takes its place under a server, which ends."""
    with (
        contextlib.closing(sqlite3.connect(database(lab))) as ours,
        contextlib.closing(sqlite3.connect(lab.base / "x")) as x,
    ):
        ours.backup(x)
    (lab.base / "x").replace(database(lab))
    told(lab)
    finish(process)


LOSSES = pytest.mark.parametrize("lose", [lose_without_server, lose_under_server, replace_under_server])


@LOSSES
@pytest.mark.parametrize("end", [stop, kill])
def test_a_loss_is_told_however_often_servers_start(
    lose: Callable[[Lab, Any], None], end: Callable[[Any], None], lab: Lab
) -> None:
    """The sessions stay unknown to every server until one has run for long enough, and are then known to all."""
    lose(lab, begun(lab))
    for days in (0, 1, -1):
        process = serve(lab, CLOCK.format(days=days))
        assert statuses(lab) == {"partial"}, days
        assert "majordomus.db" in told(lab)["peers"]["reason"]
        end(process)
        assert "partial" in lab.majordomus("brief").stdout
    process = serve(lab, BEFORE_LONG)
    until(lambda: statuses(lab) == {"read"} and not _stored_losses(lab))
    end(process)
    serve(lab)
    assert statuses(lab) == {"read"}


def _stored_losses(lab: Lab) -> int:
    with contextlib.closing(sqlite3.connect(database(lab))) as connection:
        return int(connection.execute("SELECT count(*) FROM losses").fetchone()[0])


def test_all_that_is_kept_of_one_loss_has_one_moment(lab: Lab) -> None:
    """The copy of what the server held, and what lay in its place, bear the moment at which the loss was noticed."""
    process = begun(lab)
    (lab.base / "other").write_bytes(os.urandom(50_000))
    (lab.base / "other").replace(database(lab))
    told(lab)
    finish(process)
    noted = read_lock_record((lab.state / "lease.lock").read_bytes()).loss
    assert noted is not None
    serve(lab, CLOCK.format(days=1))
    name = f"majordomus.db.damaged-{noted.at:%Y%m%dT%H%M%SZ}"
    assert [each for each in kept(lab) if not each.endswith(("-wal", "-shm"))] == [name, f"{name}-2"]
    assert all(each.startswith(name) for each in kept(lab))
    assert titles(lab.state / name) == ["before"]
    assert name in told(lab)["state"]["reason"]


def test_a_loss_is_forgotten_by_none_that_is_killed_at_its_start(lab: Lab) -> None:
    """A server that is killed once it has opened the next database has stored what was lost in it."""
    stop(begun(lab))
    database(lab).unlink()
    done = lab.launch_server(
        "import brief.server.lease as lease, os; lease.Lease.note_database = lambda *_: os._exit(9)", spawn=True
    )
    assert finish(done)[0] == 9
    assert database(lab).exists()
    serve(lab)
    assert statuses(lab) == {"partial"}
    assert "earlier copy" not in told(lab)["state"]["reason"]


# ---------------------------------------------------------------- a state folder that was moved away


@pytest.mark.parametrize("takes", ["moved", "replaced by an older one"])
def test_sessions_of_a_server_whose_folder_was_moved_away_are_missed(takes: str, lab: Lab) -> None:
    """Until it ends, state and peers say that it still runs and holds them; what it stored lies somewhere else."""
    if takes != "moved":
        stop(serve(lab))
        shutil.copytree(lab.state, lab.base / "older")
    old = begun(lab, FAST_LOOKS)
    lab.state.rename(lab.base / "moved")
    if takes != "moved":
        shutil.copytree(lab.base / "older", lab.state)
    new = serve(lab, BEFORE_LONG)
    until(lambda: "holds 1 session" in (told(lab)["state"]["reason"] or ""))
    for _ in range(3):
        assert statuses(lab) == {"partial"}
        assert f"pid {old.pid}) still runs and holds 1 session, whose tasks" in told(lab)["state"]["reason"]
        stop(new)
        new = serve(lab, BEFORE_LONG)
    stop(old)
    stop(new)
    serve(lab, BEFORE_LONG)
    until(lambda: statuses(lab) == {"read"})


def test_a_server_whose_lock_was_replaced_leaves_nothing_missing(lab: Lab) -> None:
    """Its sessions are in the database that the next server opens, so they are known to that one."""
    begun(lab)
    (lab.state / "lease.lock").unlink()
    serve(lab)
    assert told(lab)["state"]["status"] == "read"
    assert [one["episode"]["id"] for one in ask(lab, "GET", "/episodes").json()["open"]] == ["s"]


# ---------------------------------------------------------------- an earlier copy


def _back_up(lab: Lab) -> Path:
    """A copy of the database, as SQLite makes it."""
    copy = lab.base / "backup"
    with contextlib.closing(sqlite3.connect(database(lab))) as ours, contextlib.closing(sqlite3.connect(copy)) as other:
        ours.backup(other)
        other.execute("PRAGMA journal_mode = WAL")
    return copy


@pytest.mark.parametrize("end", [stop, kill])
def test_an_earlier_copy_between_two_servers_is_told(end: Callable[[Any], None], lab: Lab) -> None:
    """A backup from before the last server opened its database lacks what that one stored, and both sections say so."""
    stop(begun(lab))
    shutil.copyfile(database(lab), lab.base / "backup")
    process = serve(lab)
    assert ask(lab, "POST", "/tasks", {"session": "s", "title": "after"}).status == 200
    end(process)
    for beside in ("-wal", "-shm"):
        Path(f"{database(lab)}{beside}").unlink(missing_ok=True)
    shutil.copyfile(lab.base / "backup", database(lab))
    assert "is an earlier copy of the one that the last server stored in" in lab.majordomus("brief").stdout
    serve(lab)
    assert statuses(lab) == {"partial"}
    assert "is an earlier copy of the one that the last server stored in" in told(lab)["state"]["reason"]


def test_a_journal_is_not_written_over_an_earlier_copy(lab: Lab) -> None:
    """The journal of a killed server belongs to the file that was there before, and would damage the copy."""
    stop(begun(lab))
    shutil.copyfile(database(lab), lab.base / "backup")
    stop(begun(lab))
    process = begun(lab)
    assert ask(lab, "POST", "/tasks", {"session": "s", "title": "after"}).status == 200
    kill(process)
    shutil.copyfile(lab.base / "backup", database(lab))
    serve(lab)
    (journal,) = kept(lab)
    assert f"is not in it; its journal is kept as {journal}" in told(lab)["state"]["reason"]
    assert titles(database(lab)) == ["before"]


def test_a_copy_that_was_made_while_the_last_server_ran_is_told(lab: Lab) -> None:
    """A server that ends in order stores that it did, so that a copy made before is known to be older."""
    process = begun(lab)
    copy = _back_up(lab)
    assert ask(lab, "POST", "/tasks", {"session": "s", "title": "after"}).status == 200
    stop(process)
    shutil.copyfile(copy, database(lab))
    serve(lab)
    assert "is an earlier copy of the one that the last server stored in" in told(lab)["state"]["reason"]


def test_a_copy_of_the_last_state_is_the_database(lab: Lab) -> None:
    """A database that was restored to what the last server left, or was never away, is read in full."""
    stop(begun(lab))
    shutil.copyfile(database(lab), lab.base / "backup")
    (lab.base / "backup").replace(database(lab))
    for _ in range(3):
        process = serve(lab)
        assert statuses(lab) == {"read"}
        stop(process)
    assert statuses_without_server(lab) == {"read"}


def statuses_without_server(lab: Lab) -> set[str]:
    """The status of the state section of a brief that a command composes itself."""
    text = lab.majordomus("brief", "--section", "state").stdout
    return {word for word in ("read", "partial", "unread") if f"state        {word} " in text}


def test_an_earlier_copy_under_a_running_server_is_told(lab: Lab) -> None:
    """The server takes no further write, keeps its journal for itself, and the next one goes on from the copy."""
    stop(begun(lab))
    shutil.copyfile(database(lab), lab.base / "backup")
    process = serve(lab)
    assert ask(lab, "POST", "/tasks", {"session": "s", "title": "between"}).status == 200
    stop(process)
    process = serve(lab)
    assert ask(lab, "POST", "/tasks", {"session": "s", "title": "after"}).status == 200
    shutil.copyfile(lab.base / "backup", database(lab))
    refused = ask(lab, "POST", "/tasks", {"session": "s", "title": "late"})
    assert refused.status == 503, refused.body
    assert "was overwritten by an earlier copy of it" in refused.json()["error"]
    finish(process)
    assert (database(lab).read_bytes(), Path(f"{database(lab)}-wal").exists()) == (
        (lab.base / "backup").read_bytes(),
        False,
    )
    assert any("after" in titles(lab.state / name) for name in kept(lab) if not name.endswith("-wal"))
    serve(lab)
    assert statuses(lab) == {"partial"}
    assert "was overwritten by an earlier copy of it" in told(lab)["state"]["reason"]
    assert titles(database(lab)) == ["before"]


def test_a_copy_that_lacks_nothing_ends_nobody(lab: Lab) -> None:
    """If the journal holds everything that a copy lacks, the server goes on and nothing is lost."""
    stop(begun(lab))
    shutil.copyfile(database(lab), lab.base / "backup")
    # A checkpoint in between, as one of the regular checks may make, would leave rows that the journal does not hold.
    process = serve(lab, "import brief.server.holder as holder; holder.TICK_SECONDS = 600.0")
    assert ask(lab, "POST", "/tasks", {"session": "s", "title": "after"}).status == 200
    shutil.copyfile(lab.base / "backup", database(lab))
    assert ask(lab, "POST", "/tasks", {"session": "s", "title": "late"}).status == 200
    assert statuses(lab) == {"read"}
    stop(process)
    assert titles(database(lab)) == ["before", "after", "late"]


# ---------------------------------------------------------------- the journal


@pytest.mark.parametrize("size", [0, 8_192])
def test_rows_that_only_a_damaged_journal_held_are_kept(size: int, lab: Lab) -> None:
    """Everything acknowledged that the server can still read is in the copy that it leaves, even if that is much."""
    process = begun(lab)
    for number in range(200):
        scope = [f"{number}/{each:02}/{'x' * 380}" for each in range(40)]
        assert ask(lab, "POST", "/tasks", {"session": "s", "title": f"t{number}", "scope": scope}).status == 200
    os.truncate(f"{database(lab)}-wal", size)
    assert told(lab)["state"]["status"] == "partial"
    finish(process)
    (copy,) = (lab.state / name for name in kept(lab) if not name.endswith(("-wal", "-shm")))
    assert titles(copy) == ["before", *(f"t{number}" for number in range(200))]
    serve(lab)
    assert f"what the server still held is kept as {copy.name}" in told(lab)["state"]["reason"]


@pytest.mark.parametrize("size", [16 * 1024 * 1024, 16 * 1024 * 1024 + 5])
def test_what_is_cut_of_a_journal_is_told(size: int, lab: Lab) -> None:
    """Of a journal that nothing can be copied through no more than 16 MiB are kept, and how much that leaves out is said."""
    patch = "import brief.sessions.recovery as recovery; recovery._copy = lambda *_: False"
    process = begun(lab, patch)
    with open(f"{database(lab)}-wal", "r+b") as journal:
        journal.write(os.urandom(24_576))
        journal.truncate(size)
    told(lab)
    finish(process)
    (copy,) = (name for name in kept(lab) if name.endswith("-wal"))
    assert (lab.state / copy).stat().st_size == 16 * 1024 * 1024
    serve(lab)
    reason = told(lab)["state"]["reason"]
    cut = f"only the first 16,777,216 of the {size:,} bytes of its journal are kept, as {copy}"
    assert (cut in reason, f"its journal is kept as {copy}" in reason) == (
        size > 16 * 1024 * 1024,
        size <= 16 * 1024 * 1024,
    )


# ---------------------------------------------------------------- the mode


@pytest.mark.parametrize("beside", ["", "-wal", "-shm"])
@pytest.mark.parametrize(("mode", "left"), [(0o666, 0o600), (0o620, 0o600), (0o644, 0o644)])
def test_a_mode_that_lets_others_write_is_tightened(beside: str, mode: int, left: int, lab: Lab) -> None:
    """The files of the database are ours: write permission for others is removed under a running server, which goes on."""
    process = begun(lab, FAST_LOOKS)
    assert statuses(lab) == {"read"}
    path = Path(f"{database(lab)}{beside}")
    path.chmod(mode)
    assert statuses(lab) == {"read"}
    assert ask(lab, "POST", "/tasks", {"session": "s", "title": "after"}).status == 200
    until(lambda: path.stat().st_mode & 0o777 == left)
    assert process.poll() is None
