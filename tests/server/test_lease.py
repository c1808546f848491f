from __future__ import annotations

import fcntl
import json
import os
import socket
import stat
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from brief.fastpath import ask as fast
from brief.fastpath.known import Known
from brief.fastpath.lease import MOST_EPOCH, NoServerError, read_lease
from brief.fastpath.process import describe_process, recorded_process
from brief.server import lease as leases
from brief.server.lease import HeldError, Lease, LeaseError
from brief.sessions.database import Database
from brief.support.state_folder import UnprovenStateError
from impostor import socket_in

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_000, tzinfo=UTC)
MILLISECONDS = int(NOW.timestamp() * 1000)


@pytest.fixture
def common(tmp_path: Path) -> Path:
    """A git folder, as far as a lease is concerned."""
    folder = tmp_path / ".git"
    folder.mkdir()
    return folder


def _take(common: Path, now: datetime = NOW) -> Lease:
    return Lease.take(str(common), now)


def _file(common: Path) -> Path:
    return common / "majordomus/lease.json"


def _socket(common: Path, epoch: int) -> Path:
    """The path at which a server of the epoch would listen, with a runtime folder of the test's own."""
    return socket_in(common.parent, str(common), epoch)


def _published(common: Path, now: datetime = NOW) -> Lease:
    lease = _take(common, now)
    lease.publish(_socket(common, lease.epoch), None, now)
    return lease


def _stored(common: Path, epoch: int) -> None:
    (common / "majordomus").mkdir(exist_ok=True)
    with closing(Database(common / "majordomus" / leases.DATABASE, epoch)):
        pass


# ---------------------------------------------------------------- the lock


def test_one_process_holds_a_repository(common: Path) -> None:
    """A second taker learns that another server holds the lease, and the first is not disturbed."""
    first = _take(common)
    with pytest.raises(HeldError, match=r"another server holds .*\.git"):
        _take(common)
    assert first.is_ours()
    first.release()


def test_a_released_lease_can_be_taken_again(common: Path) -> None:
    """Releasing frees the lock and withdraws the file."""
    _published(common).release()
    assert not _file(common).exists()
    _take(common).release()


def test_the_state_is_its_users_alone(common: Path) -> None:
    """The folder has mode 0700, the lock and the file 0600."""
    lease = _published(common)
    modes = [stat.S_IMODE(os.stat(p).st_mode) for p in (lease.state_dir, lease.state_dir / "lease.lock", _file(common))]
    lease.release()
    assert modes == [0o700, 0o600, 0o600]


def test_a_child_does_not_inherit_the_lock(common: Path) -> None:
    """A git that outlives its server keeps nobody from taking over."""
    lease = _take(common)
    assert lease._descriptor is not None
    assert not os.get_inheritable(lease._descriptor)
    lease.release()


@pytest.mark.parametrize("put_back", [False, True])
def test_a_lock_that_was_removed_or_replaced_is_no_longer_ours(put_back: bool, common: Path) -> None:
    """Removing lease.lock supersedes the holder, and another process can take the lease."""
    lease = _take(common)
    (lease.state_dir / "lease.lock").unlink()
    if put_back:
        (lease.state_dir / "lease.lock").touch()
    assert not lease.is_ours()
    later = _take(common)
    assert later.is_ours()
    lease.release()
    assert later.is_ours()
    later.release()


def test_a_lock_replaced_between_opening_and_locking_is_not_taken(
    common: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock on a file that the path no longer names guards nothing, so the file that is there now is locked."""
    path = common / "majordomus/lease.lock"
    flock = fcntl.flock
    replaced: list[int] = []

    def late(descriptor: int, operation: int) -> None:
        if not replaced:
            replaced.append(path.stat().st_ino)
            (path.parent / "other").touch()
            (path.parent / "other").replace(path)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    lease = _take(common)
    assert (bool(replaced), lease.is_ours()) == (True, True)
    lease.release()


def _lock_link(state: Path) -> None:
    (state / "elsewhere").touch()
    (state / "lease.lock").symlink_to("elsewhere")


def _state_file(state: Path) -> None:
    state.rmdir()
    state.touch()


@pytest.mark.parametrize("spoil", [_lock_link, _state_file])
def test_where_no_lock_can_be_it_is_told(spoil: Callable[[Path], None], common: Path) -> None:
    """A link or a file in the way is a sentence that names the place."""
    state = common / "majordomus"
    state.mkdir()
    spoil(state)
    with pytest.raises(UnprovenStateError, match=r"majordomus(/lease\.lock)? is (a symbolic link|not a)"):
        _take(common)


def test_a_folder_in_the_locks_place_is_told(common: Path) -> None:
    """It is the user's own, and still no lock can be held there."""
    (common / "majordomus/lease.lock").mkdir(parents=True)
    with pytest.raises(LeaseError, match=r"no server can run: .*lease\.lock is not a regular file"):
        _take(common)


# ---------------------------------------------------------------- the epoch


def test_the_first_epoch_is_the_time(common: Path) -> None:
    """An epoch is the Unix time in milliseconds."""
    lease = _take(common)
    lease.release()
    assert lease.epoch == MILLISECONDS


def test_a_clock_set_back_still_gives_a_higher_epoch(common: Path) -> None:
    """The epoch of the last holder counts, even if only the file or only the database has it."""
    first = _published(common)
    held = _file(common).read_bytes()
    first.release()
    _file(common).write_bytes(held)
    second = _take(common, NOW - timedelta(days=400))
    second.release()
    _file(common).unlink()
    _stored(common, second.epoch)
    third = _take(common, NOW - timedelta(days=800))
    third.release()
    assert [second.epoch, third.epoch] == [MILLISECONDS + 1, MILLISECONDS + 2]


def test_the_database_may_know_a_higher_epoch_than_the_file(common: Path) -> None:
    """The higher of the two counts, whatever the clock says."""
    _published(common).release()
    _stored(common, MILLISECONDS + 5_000)
    lease = _take(common)
    lease.release()
    assert lease.epoch == MILLISECONDS + 5_001


DAMAGE: dict[str, bytes] = {
    "empty": b"",
    "truncated": b'{"schema": "majordomus.lease/v1", "epoch": 1',
    "binary": b"\xff\xfe\x00",
    "a list": b"[]",
    "deep": b"[" * 60_000,
    "no socket": b'{"common_dir": "/r", "epoch": 5}',
    "no epoch": b'{"common_dir": "/r", "socket": "/s"}',
    "epoch is true": b'{"common_dir": "/r", "socket": "/s", "epoch": true}',
    "epoch is text": b'{"common_dir": "/r", "socket": "/s", "epoch": "5"}',
    "epoch is a fraction": b'{"common_dir": "/r", "socket": "/s", "epoch": 5.5}',
    "epoch is negative": b'{"common_dir": "/r", "socket": "/s", "epoch": -5}',
    "epoch is past all clocks": b'{"common_dir": "/r", "socket": "/s", "epoch": 1' + b"0" * 30 + b"}",
    "epoch is past all digits": b'{"common_dir": "/r", "socket": "/s", "epoch": 1' + b"0" * 5_000 + b"}",
    "socket is relative": b'{"common_dir": "/r", "socket": "s", "epoch": 5}',
    "socket holds a nul": rb'{"common_dir": "/r", "socket": "/s\u0000", "epoch": 5}',
    "no git folder": b'{"socket": "/s", "epoch": 5}',
    "git folder is a number": b'{"common_dir": 5, "socket": "/s", "epoch": 5}',
    "socket is no name": rb'{"common_dir": "/r", "socket": "/\ud800", "epoch": 5}',
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_told_and_hinders_nobody(damage: str, common: Path) -> None:
    """Readers get a sentence that names the file; a taker takes the lease as if the file were not there."""
    (common / "majordomus").mkdir()
    _file(common).write_bytes(DAMAGE[damage])
    with pytest.raises(NoServerError, match=r"lease\.json is damaged.*serve ensure"):
        fast.ask(str(common), "GET", "/server", [])
    lease = _published(common)
    assert read_lease(str(common))["epoch"] == lease.epoch == MILLISECONDS
    lease.release()


@pytest.mark.parametrize("junk", [b"", b"no database at all", b"SQLite format 3\x00" + b"\xff" * 4_096])
def test_a_damaged_database_gives_no_epoch(junk: bytes, common: Path) -> None:
    """The lease is taken without it; whether a server can go on is the database's own question."""
    (common / "majordomus").mkdir()
    (common / "majordomus" / leases.DATABASE).write_bytes(junk)
    lease = _take(common)
    lease.release()
    assert lease.epoch == MILLISECONDS


def test_an_epoch_that_no_clock_gives_is_not_counted_on(common: Path) -> None:
    """A database that has used up all epochs is a sentence and no overflow, and the lock is free again."""
    _stored(common, MOST_EPOCH)
    for _ in range(2):
        with pytest.raises(LeaseError, match=r"majordomus\.db names epoch \d+, which no clock ever gave; move it away"):
            _take(common)


# ---------------------------------------------------------------- the file


def test_the_file_says_who_holds(common: Path) -> None:
    """It names the process in three ways, where it answers, and since when."""
    lease = _published(common)
    record = read_lease(str(common))
    lease.release()
    assert record["schema"] == "majordomus.lease/v1"
    assert record.items() >= describe_process(os.getpid()).items()
    assert record["since"] == "2026-03-01T12:00:00.123000Z"
    assert (record["socket"], record["tcp"]) == (str(_socket(common, lease.epoch)), None)
    assert recorded_process(record) == Known(os.getpid())


def test_a_file_of_somebody_else_is_not_withdrawn(common: Path) -> None:
    """A superseded holder that ends leaves the word of the new one."""
    old = _published(common)
    (old.state_dir / "lease.lock").unlink()
    new = _published(common, NOW + timedelta(seconds=1))
    old.release()
    assert read_lease(str(common))["epoch"] == new.epoch
    new.release()
    assert not _file(common).exists()


def test_releasing_what_was_never_published_removes_nothing(common: Path) -> None:
    """A holder that failed before it could answer leaves the file it found."""
    (common / "majordomus").mkdir()
    _file(common).write_text("found")
    _take(common).release()
    assert _file(common).read_text() == "found"


def _gone(path: Path) -> None:
    path.unlink()


def _spoilt(path: Path) -> None:
    path.unlink()
    path.write_text("{")


@pytest.mark.parametrize("change", [_gone, _spoilt])
def test_a_holder_writes_its_file_again(change: Callable[[Path], None], common: Path) -> None:
    """A holder whose file was removed or spoilt would never be found again, so it says anew who holds."""
    lease = _published(common)
    before = read_lease(str(common))
    assert not lease.renew()
    change(_file(common))
    assert lease.renew()
    assert read_lease(str(common)) == before
    lease.release()
    assert not _file(common).exists()


def test_nothing_is_renewed_that_was_never_said(common: Path) -> None:
    """A holder that answers nowhere yet writes no file."""
    lease = _take(common)
    assert not lease.renew()
    lease.release()
    assert not _file(common).exists()


# ---------------------------------------------------------------- why nobody answers


def _named(common: Path, **changed: Any) -> None:
    lease = _published(common)
    record = read_lease(str(common)) | changed
    lease.release()
    _file(common).write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"boot_id": "another-boot"}, "ended with the machine's last run"),
        ({"pid": 2**22 + 1}, "is gone and left its lease behind"),
        ({"pid": 1}, "is gone and left its lease behind"),
        ({"pid": 2**70}, "is gone and left its lease behind"),
        ({"pid": -1}, "is gone and left its lease behind"),
        ({"pid": None}, "is gone and left its lease behind"),
        ({"pid": "1"}, "is gone and left its lease behind"),
        ({"process_start": 1}, "is gone and left its lease behind"),
        ({}, r"does not answer at .*\.sock \(No such file or directory\)"),
    ],
)
def test_a_holder_that_is_gone_is_told_apart(changed: dict[str, Any], told: str, common: Path) -> None:
    """A pid alone proves nobody: its start and the boot must agree, also where another process has the number now."""
    _named(common, **changed)
    with pytest.raises(NoServerError, match=told + ".*; start one with majordomus serve ensure"):
        fast.ask(str(common), "GET", "/server", [])


def test_somebody_else_on_the_socket_is_not_the_holder(common: Path) -> None:
    """An answer without the epoch of the lease is not taken for the holder's."""
    with TemporaryDirectory(dir="/tmp") as runtime, closing(socket.socket(socket.AF_UNIX)) as listener:
        path = socket_in(Path(runtime), str(common), MILLISECONDS)  # the path of a socket is short
        path.parent.mkdir(mode=0o700)
        _named(common, socket=str(path))
        listener.bind(str(path))
        listener.listen()
        with pytest.raises(NoServerError, match="holds and is silent; majordomus serve ensure replaces it"):
            fast.ask(str(common), "GET", "/server", [], seconds=0.05)


def test_a_git_folder_that_cannot_be_read_is_told(common: Path) -> None:
    """A lease file that is not a regular file is reported as such."""
    (common / "majordomus/lease.json").mkdir(parents=True)
    with pytest.raises(NoServerError, match=r"lease\.json is not a regular file"):
        read_lease(str(common))


def test_no_lease_is_told_with_the_command_that_helps(common: Path) -> None:
    """If nobody ever held the lease, the sentence names the command that starts a server."""
    with pytest.raises(NoServerError, match="no server holds this repository; start one with majordomus serve ensure"):
        read_lease(str(common))
