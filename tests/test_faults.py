"""Who answers may be broken: every command still answers, in time, and says what is."""

from __future__ import annotations

import json
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import serving
from cli_helpers import brief, command, hooked, told_alone
from impostor import EPOCH, answer, listening, saying, send, socket_of, write_lease
from sandbox import Lab, until
from serving import lease, serve

pytestmark = pytest.mark.slow

Serve = Callable[[socket.socket, bytes], None]


@pytest.fixture(autouse=True)
def _nothing_outlives() -> Iterator[None]:
    """End and wait for what the test started itself."""
    yield
    serving.end_all()


@pytest.fixture
def two(lab: Lab) -> Lab:
    """A repository with a second work tree and a lock in it."""
    lab.commit()
    lab.worktree("two")
    serving.leave_notice(lab)
    return lab


# ---------------------------------------------------------------- who answers


def test_socket_that_nobody_serves(two: Lab) -> None:
    """A killed server leaves lease and socket: told as gone, and the next one takes over."""
    serve(two).kill()
    pid = lease(two)["pid"]
    until(lambda: serving.has_ended(pid))
    assert Path(lease(two)["socket"]).exists()
    told_alone(two, "is gone and left its lease behind; start one with majordomus serve ensure")
    assert two.majordomus("serve", "ensure").stdout.startswith("started: ")
    assert len(serving.left_behind(two)) == 3


def test_server_that_is_stopped(two: Lab) -> None:
    """A holder that hangs is told as silent, and is the one that answers as soon as it goes on."""
    held = serve(two)
    held.send_signal(signal.SIGSTOP)
    assert SILENT in brief(two)["answered_by"]["reason"]
    held.send_signal(signal.SIGCONT)
    assert brief(two)["answered_by"]["kind"] == "lease-holder"


def _accepts(connection: socket.socket, request: bytes) -> None:
    """Answer nothing for as long as the other side waits."""
    connection.recv(1)


def _drips(connection: socket.socket, request: bytes) -> None:
    """Answer a byte every now and then, with no end."""
    while True:
        connection.sendall(b"x")
        threading.Event().wait(0.05)


def _floods(connection: socket.socket, request: bytes) -> None:
    """Answer with 50 MB, announced and of the right epoch."""
    send(connection, answer(b"x" * 52_428_800))


IMPOSTOR = f"is not the server of epoch {EPOCH}"
SILENT = "holds and is silent; majordomus serve ensure replaces it"
SERVERS: dict[str, tuple[Serve, str]] = {
    "accepts": (_accepts, SILENT),
    "drips": (_drips, SILENT),
    "hangs up": (lambda connection, request: None, IMPOSTOR),
    "garbage": (saying(b"\x00\xff garbage \x1b[31m\r\n\r\n"), IMPOSTOR),
    "50 MB": (_floods, "it sent more than 16777216 bytes"),
    "another epoch": (saying(answer(b"{}", epoch=EPOCH + 1)), IMPOSTOR),
}


@pytest.mark.parametrize("case", SERVERS)
def test_server_that_answers_otherwise(two: Lab, case: str) -> None:
    """Whatever listens where the lease says a server does, each command answers in time without it."""
    behave, why = SERVERS[case]
    path = socket_of(two)
    write_lease(two.common_dir, path)
    with listening(path, behave):
        told_alone(two, why)


@pytest.mark.parametrize("same_epoch", [False, True])
def test_server_of_another_repository(two: Lab, same_epoch: bool) -> None:
    """A lease that names another repository's server leads to no brief of that one, even where the epochs are equal."""
    other = two.base / "other"
    two.git("clone", "-q", str(two.repo), str(other))
    two.majordomus("episode", "open", "--session", "theirs", cwd=other)
    theirs = json.loads((other / ".git/majordomus/lease.json").read_text())
    epoch = theirs["epoch"] if same_epoch else EPOCH
    write_lease(two.common_dir, theirs["socket"], epoch=epoch)
    told = brief(two)
    assert told["repository"]["root"] == str(two.repo)
    assert told["answered_by"]["kind"] == "self"
    assert "theirs" not in json.dumps(told)
    assert "lock on koda" in hooked(two, "user-prompt-submit")
    assert command(two, "peers", "list").returncode != 0
