from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brief.fastpath.known import Known
from brief.fastpath.lease import why_silent
from brief.fastpath.reach import held_lock, why_elsewhere, why_out_of_reach
from brief.server.lease import own_process
from impostor import socket_in, write_lease

OTHER_TABLE = {"process_table": "pid:[1]"}
REFUSED = ConnectionRefusedError(111, "Connection refused")


@pytest.fixture
def common_dir(tmp_path: Path) -> Iterator[str]:
    """A git folder whose lease this process holds."""
    (tmp_path / "majordomus").mkdir(mode=0o700)
    with open(tmp_path / "majordomus/lease.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield str(tmp_path)


def holder(common_dir: str, **changes: Any) -> dict[str, Any]:
    """The holder of the lock as it names itself, changed as the test wants."""
    record = own_process() | changes
    Path(common_dir, "majordomus/lease.lock").write_text(json.dumps(record))
    found = held_lock(common_dir)
    assert isinstance(found, Known)
    assert found.value == record
    return record


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({}, None),
        ({"boot_id": None, "process_table": None, "mount_namespace": None}, None),
        ({"boot_id": "another"}, "on another machine"),
        (OTHER_TABLE, "in another container or sandbox"),
        ({"mount_namespace": "mnt:[1]"}, "in another container or sandbox, or with a runtime folder of its own"),
    ],
    ids=repr,
)
def test_where_a_holder_runs(changes: dict[str, Any], where: str | None) -> None:
    """It runs elsewhere only where a namespace or the run of the machine is proven to be another."""
    assert why_elsewhere(own_process() | changes) == where
    assert why_elsewhere({}) is None


def test_a_holder_without_a_socket_here(common_dir: str) -> None:
    """Its lease names a socket that does not exist here: out of reach, at once."""
    record = holder(common_dir, **OTHER_TABLE)
    write_lease(common_dir, socket_in(Path("/nowhere"), common_dir), **record)
    told = why_out_of_reach(common_dir, record)
    assert told is not None
    assert f"holds {common_dir} and is out of reach from here: it runs in another container" in told
    assert why_silent(common_dir, {"epoch": 7, **record, "socket": "/nowhere/a.sock"}, FileNotFoundError(2, "")) == told


def test_a_holder_whose_socket_is_here(common_dir: str, tmp_path: Path) -> None:
    """A container that shares the runtime folder is within reach, and its process is not reported as gone."""
    record = holder(common_dir, **OTHER_TABLE)
    path = socket_in(tmp_path, common_dir)
    path.parent.mkdir(exist_ok=True)
    path.touch()
    lease = write_lease(common_dir, path, **record)
    assert why_out_of_reach(common_dir, record, waited=True) is None
    assert f"does not answer at {path}" in why_silent(common_dir, lease, REFUSED)
    assert why_silent(common_dir, lease, TimeoutError()).endswith(
        "holds and is silent; it runs in another container or sandbox, and can be ended there alone"
    )


def test_a_holder_that_has_not_written_its_lease(common_dir: str) -> None:
    """One that just starts may come into reach: it is waited for first."""
    record = holder(common_dir, **OTHER_TABLE)
    for lease in (None, own_process()):
        if lease is not None:
            write_lease(common_dir, socket_in(Path("/nowhere"), common_dir), **lease)
        assert why_out_of_reach(common_dir, record) is None
        assert why_out_of_reach(common_dir, record, waited=True) is not None


def test_a_holder_that_runs_here(common_dir: str) -> None:
    """A holder that is not proven to run elsewhere is never reported as out of reach."""
    record = holder(common_dir)
    write_lease(common_dir, socket_in(Path("/nowhere"), common_dir), **record)
    assert why_out_of_reach(common_dir, record, waited=True) is None


def test_one_that_took_the_place_of_another(common_dir: str) -> None:
    """If the process of the lease is gone but the lock is held, nobody is advised to start a server."""
    holder(common_dir)
    lease = write_lease(common_dir, socket_in(Path("/nowhere"), common_dir), process_start=1)
    told = why_silent(common_dir, lease, REFUSED)
    assert told.endswith("is gone, and the one that has taken its place does not answer yet; ask again")


@pytest.mark.parametrize("text", ["", "[]", "{", "\xff", "[" * 60_000], ids=lambda text: text[:10])
def test_a_holder_that_names_nobody(common_dir: str, text: str) -> None:
    """A process that holds the lock still counts if what it wrote cannot be understood."""
    Path(common_dir, "majordomus/lease.lock").write_text(text)
    assert held_lock(common_dir) == Known({})
