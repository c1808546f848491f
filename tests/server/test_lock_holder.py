from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from brief.fastpath.known import ABSENT, Unknown
from brief.fastpath.reach import held_lock
from brief.server.lease import own_process
from brief.server.lock_holder import end_holder, open_holder
from readers_reach import SERVER
from sandbox import Lab, until
from serving import answers, finish, has_ended, lease, python

_HOLD = """
import fcntl, time
with open(sys.argv[1], "r+") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    print("held", flush=True)
    time.sleep(600)
"""
_IDLE = "print('there', flush=True)\nimport time; time.sleep(600)"
_FOREIGN = "import os\nos.setgroups([]); os.setgid(54_321); os.setuid(54_321)\n" + _IDLE


def begun(lab: Lab, code: str, *words: str) -> subprocess.Popen[str]:
    """A process that has said its first word."""
    process = python(lab, code, *words)
    assert process.stdout is not None
    assert process.stdout.readline() in ("held\n", "there\n"), finish(process)
    return process


def process_start(pid: int) -> int:
    """Field 22 of the stat of a process."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def held_in_the_name_of(lab: Lab, pid: object, **changes: Any) -> None:
    """A process holds the lock of the lease, in a file that names another."""
    lab.state.mkdir(mode=0o700, exist_ok=True)
    start = process_start(pid) if isinstance(pid, int) and pid > 0 else None
    named = own_process() | {"pid": pid, "process_start": start} | changes
    (lab.state / "lease.lock").write_text(json.dumps(named))
    begun(lab, _HOLD, str(lab.state / "lease.lock"))


def doubt(lab: Lab) -> str:
    """Why the holder is not proven."""
    found = open_holder(lab.common_dir)
    assert isinstance(found, Unknown), found
    assert end_holder(lab.common_dir) == found.reason
    return found.reason


def test_a_server_that_started_by_itself(lab: Lab) -> None:
    """The server of this very folder, which holds its lock, is proven and ended; then nobody holds any more."""
    assert lab.majordomus("serve", "ensure").returncode == 0
    pid = lease(lab)["pid"]
    assert end_holder(lab.common_dir) is None
    until(lambda: has_ended(pid) and held_lock(lab.common_dir) is ABSENT)
    assert end_holder(lab.common_dir) is None


def test_a_server_in_the_foreground(lab: Lab) -> None:
    """`serve run` names no folder in its words; whose server it is the lock says."""
    process = python(lab, "from brief.__main__ import main; sys.exit(main())", "serve", "run")
    until(lambda: answers(lab))
    assert end_holder(lab.common_dir) is None
    assert finish(process)[0] == -signal.SIGKILL


def test_an_innocent_process(lab: Lab) -> None:
    """A lock file may name any process of ours; one that is not a server is not killed."""
    innocent = begun(lab, _IDLE)
    held_in_the_name_of(lab, innocent.pid)
    assert doubt(lab).endswith(f"is not a server of majordomus for {lab.common_dir}")
    assert innocent.poll() is None


def test_the_server_of_another_repository(lab: Lab) -> None:
    """A server is ended for its own folder alone."""
    with Lab() as other:
        assert other.majordomus("serve", "ensure").returncode == 0
        pid = lease(other)["pid"]
        held_in_the_name_of(lab, pid)
        assert doubt(lab).endswith(f"is not a server of majordomus for {lab.common_dir}")
        assert answers(other)


def test_a_server_that_does_not_hold_the_lock(lab: Lab) -> None:
    """Words alone prove nothing: the kernel names who holds a lock, also where the file is open in both."""
    reader = begun(
        lab, "lock = open(sys.argv[2] + '/majordomus/lease.lock', 'w')\n" + _IDLE, "brief.server", folder(lab)
    )
    held_in_the_name_of(lab, reader.pid)
    assert doubt(lab).endswith("does not hold the lock")
    assert reader.poll() is None


def folder(lab: Lab) -> str:
    """The git folder, with a state folder in it."""
    lab.state.mkdir(mode=0o700, exist_ok=True)
    return lab.common_dir


def test_a_process_of_another_uid(lab: Lab) -> None:
    """Root could signal anybody, and signals its own alone."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to run a process as a second uid")
    other = begun(lab, _FOREIGN, "brief.server", folder(lab))
    held_in_the_name_of(lab, other.pid)
    assert doubt(lab).endswith("is not a process of yours")
    assert other.poll() is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"process_start": 1}, "is not the process that wrote it"),
        ({"boot_id": "of another run"}, "it runs on another machine"),
        ({"process_table": "pid:[1]"}, "it runs in another container or sandbox"),
        ({"pid": True}, "does not name the process"),
        ({"pid": 0}, "does not name the process"),
        ({"pid": -1}, "does not name the process"),
        ({"pid": "1"}, "does not name the process"),
        ({"pid": 2**40}, "cannot be opened"),
    ],
    ids=repr,
)
def test_a_process_that_the_file_does_not_name(lab: Lab, changes: dict[str, Any], told: str) -> None:
    """A number that was given again, of another run of the machine or table, or that is none, is nobody's."""
    server = begun(lab, SERVER, "brief.server", folder(lab))
    lock = lab.state / "lease.lock"
    lock.write_text(json.dumps(json.loads(lock.read_text()) | changes))
    assert told in doubt(lab)
    assert server.poll() is None
