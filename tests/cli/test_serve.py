from __future__ import annotations

import json
import os
import signal

from brief.core.model.wire import from_json
from brief.server.serving import ServerStatus
from sandbox import Lab, until


def holder(lab: Lab) -> int:
    """The pid in the lease."""
    return int(json.loads((lab.state / "lease.json").read_text())["pid"])


def test_from_start_to_stop(lab: Lab) -> None:
    """A server is started once, told about, and ended; ending it twice is no fault."""
    first = lab.majordomus("serve", "ensure")
    again = lab.majordomus("serve", "ensure")
    assert first.stdout.startswith(f"started: pid {holder(lab)} holds {lab.common_dir}\n")
    assert again.stdout.startswith(f"already there: pid {holder(lab)} holds")
    status = from_json(ServerStatus, lab.majordomus("serve", "status", "--format", "json").stdout)
    assert (status.lease, status.common_dir, status.episodes) == ("holds", lab.common_dir, 0)
    stopped = lab.majordomus("serve", "stop")
    assert stopped.returncode == 0
    assert stopped.stdout == f"stopped: pid {status.pid}, which held {lab.common_dir} as epoch {status.epoch}\n"
    again = lab.majordomus("serve", "stop")
    assert (again.returncode, again.stdout) == (0, "nothing to stop: no server holds this repository\n")
    assert lab.majordomus("serve", "stop", "--format", "json").stdout == "null\n"


def test_second_server(lab: Lab) -> None:
    """A second server in the foreground is refused with the command that tells of the first."""
    lab.majordomus("serve", "ensure")
    done = lab.majordomus("serve", "run")
    told = f"another server holds {lab.common_dir}; see majordomus serve status"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"majordomus: {told}\n")


def test_silent_server_is_not_told_as_stopped(lab: Lab) -> None:
    """A holder that does not answer was not stopped, and the sentence says what ends it."""
    lab.majordomus("serve", "ensure")
    pid = holder(lab)
    os.kill(pid, signal.SIGSTOP)
    try:
        done = lab.majordomus("serve", "stop")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("majordomus: not stopped: the server of epoch ")
    assert "holds and is silent; majordomus serve ensure replaces it" in done.stderr


def test_damaged_lease_is_nothing_to_stop(lab: Lab) -> None:
    """A damaged lease that nobody holds is told by `status`, and there is nothing to stop."""
    lab.state.mkdir()
    (lab.state / "lease.json").write_text("{")
    told = f"serve status unread: {lab.state}/lease.json is damaged, so no server can be found by it"
    assert lab.majordomus("serve", "status").stderr.startswith(f"majordomus: {told}")
    assert lab.majordomus("serve", "stop").stdout.startswith("nothing to stop")


def test_lease_of_a_killed_server(lab: Lab) -> None:
    """A killed server leaves nothing to stop."""
    lab.majordomus("serve", "ensure")
    os.kill(holder(lab), signal.SIGKILL)
    until(lambda: not lab.processes())
    assert "is gone and left its lease behind" in lab.majordomus("serve", "status").stderr
    assert lab.majordomus("serve", "stop").stdout.startswith("nothing to stop")
