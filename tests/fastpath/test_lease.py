from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from brief.fastpath import process as processes
from brief.fastpath.lease import NoServerError, read_lease, why_silent
from brief.fastpath.process import describe_process
from impostor import socket_of, write_lease
from sandbox import Lab

ENSURE = "; start one with majordomus serve ensure"
OTHER_BOOT = "00000000-0000-0000-0000-000000000000"


def refused(lab: Lab) -> str:
    """Why no lease could be read."""
    with pytest.raises(NoServerError) as caught:
        read_lease(lab.common_dir)
    return str(caught.value)


def ended() -> int:
    """The id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        pass
    return child.pid


def test_no_lease(lab: Lab) -> None:
    """Without a lease nobody holds the repository, and the sentence names the command that starts a server."""
    assert refused(lab) == "no server holds this repository" + ENSURE


def test_read_as_it_lies(lab: Lab) -> None:
    """A good lease is read with every field."""
    written = write_lease(lab.common_dir, socket_of(lab), tcp=None)
    assert read_lease(lab.common_dir) == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '"text"',
        "\x00\x01",
        "[" * 60_000,
        json.dumps({"common_dir": "/r", "epoch": 1}),
        json.dumps({"common_dir": "/r", "socket": "/a"}),
        json.dumps({"common_dir": "/r", "epoch": True, "socket": "/a"}),
        json.dumps({"common_dir": "/r", "epoch": "1", "socket": "/a"}),
        json.dumps({"common_dir": "/r", "epoch": -1, "socket": "/a"}),
        '{"common_dir": "/r", "epoch": ' + "9" * 5_000 + ', "socket": "/a"}',
        json.dumps({"common_dir": "/r", "epoch": 1, "socket": ""}),
        json.dumps({"common_dir": "/r", "epoch": 1, "socket": "\0abstract"}),
        json.dumps({"common_dir": "/r", "epoch": 1, "socket": "/a\0b"}),
        json.dumps({"common_dir": "/r", "epoch": 1, "socket": "/\ud800"}),
        json.dumps({"common_dir": "/r", "epoch": 1, "socket": 5}),
        json.dumps({"epoch": 1, "socket": "/a"}),
        json.dumps({"common_dir": None, "epoch": 1, "socket": "/a"}),
    ],
    ids=lambda text: text[:48],
)
def test_damaged(lab: Lab, text: str) -> None:
    """A lease that is cut, empty or of another shape is reported as damaged, with its path."""
    lab.state.mkdir()
    path = lab.state / "lease.json"
    path.write_text(text)
    assert refused(lab) == f"{path} is damaged, so no server can be found by it" + ENSURE


def test_unreadable(lab: Lab) -> None:
    """A lease that exists but cannot be read is not reported as missing."""
    (lab.state / "lease.json").mkdir(parents=True)
    assert f"{lab.state}/lease.json is not a regular file" in refused(lab)


def test_read_only_git_folder(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """If nothing can be written, the sentence says that no server can run, and advises no command."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert refused(lab) == f"no server can run: {lab.common_dir} is read-only"


# ---------------------------------------------------------------- why nobody answers


def record(**changes: Any) -> dict[str, Any]:
    """A lease of this process."""
    return {"epoch": 7, "socket": "/a.sock", **describe_process(os.getpid()), **changes}


def test_silent() -> None:
    """A server that accepts and does not answer, or whose backlog is full, is reported as silent."""
    for fault in (TimeoutError(), BlockingIOError()):
        told = why_silent("/nowhere", record(pid=5), fault)
        assert told == "the server of epoch 7 (pid 5) holds and is silent; majordomus serve ensure replaces it"


def test_of_another_boot() -> None:
    """A lease of an earlier run of the machine names nobody, whoever has the pid now."""
    told = why_silent("/nowhere", record(boot_id=OTHER_BOOT), ConnectionRefusedError())
    assert told == f"the server of epoch 7 (pid {os.getpid()}) ended with the machine's last run" + ENSURE


def test_killed() -> None:
    """A server whose process has ended is reported as gone."""
    pid = ended()
    told = why_silent("/nowhere", record(pid=pid), ConnectionRefusedError())
    assert told == f"the server of epoch 7 (pid {pid}) is gone and left its lease behind" + ENSURE


def test_pid_of_somebody_else() -> None:
    """A live process that began at another time is not the server."""
    told = why_silent("/nowhere", record(process_start=1), FileNotFoundError())
    assert "is gone and left its lease behind" in told


def test_not_ours_to_open() -> None:
    """A socket that this user may not open is reported as such."""
    told = why_silent("/nowhere", record(), PermissionError())
    assert told == f"the server of epoch 7 (pid {os.getpid()}) refuses this user: /a.sock is not ours to open"


def test_runs_and_does_not_answer() -> None:
    """A server that runs without its socket is reported with the system's error."""
    told = why_silent("/nowhere", record(), FileNotFoundError(2, "No such file or directory"))
    assert told.endswith("does not answer at /a.sock (No such file or directory)" + ENSURE)


def test_where_proc_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server about which nothing is known is not called gone."""
    monkeypatch.setattr(processes, "PROC", "/nowhere")
    told = why_silent("/nowhere", record(process_start=1), FileNotFoundError(2, "No such file or directory"))
    assert told.endswith("does not answer at /a.sock (No such file or directory)" + ENSURE)
