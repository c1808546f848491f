"""Whoever holds connections open, sends without end or never reads uses up neither memory, descriptors nor time."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import time
from typing import Any

import pytest

from brief.server.connection import MOST_CONNECTIONS, MOST_HEAD, most_connections
from sandbox import Lab, until
from serving import answers, lease, serve, write_policy

QUICK = "import brief.server.connection as c; c.REQUEST_SECONDS = 0.4; c.IDLE_SECONDS = 0.0; c.MOST_CONNECTIONS = 8"


@pytest.fixture
def held(lab: Lab) -> Lab:
    """A server that answers by its socket and by TCP, with short times and few connections."""
    lab.commit()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    write_policy(lab, f"version: 1\nserver:\n  port: {port}\n")
    assert lab.majordomus("trust").returncode == 0
    serve(lab, QUICK)
    return lab


def _connect(lab: Lab, *, tcp: bool = False) -> socket.socket:
    record = lease(lab)
    if tcp:
        made = socket.create_connection(("127.0.0.1", int(record["tcp"].rpartition(":")[2])), 10)
    else:
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(10)
        made.connect(record["socket"])
    return made


def _rest(client: socket.socket) -> bytes:
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(65_536):
            received += piece
    return received


def _refused(raw: bytes, status: int) -> None:
    head, _, body = raw.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode()), raw[:200]
    assert json.loads(body)["kind"] == "Refused"


@pytest.mark.parametrize("tcp", [False, True])
@pytest.mark.parametrize("step", [1_000, 65_536])
def test_an_endless_head_is_refused(step: int, tcp: bool, held: Lab) -> None:
    """A head of more than 64 KiB is refused long before 16 MB of it were taken, and the server answers on."""
    sent = 0
    with _connect(held, tcp=tcp) as client:
        with contextlib.suppress(OSError):
            client.sendall(b"GET /api/v1/server HTTP/1.1\r\nhost: localhost\r\nx: ")
            while sent < 16_000_000:
                sent += client.send(b"a" * step)
        if not tcp:  # a reset drops what TCP had to say
            _refused(_rest(client), 431)
    assert sent < 8_000_000
    assert answers(held)


@pytest.mark.parametrize("where", ["one header", "many headers", "the path"])
def test_a_whole_head_over_the_bound_is_refused(where: str, held: Lab) -> None:
    """Also one that comes in one piece; one just below the bound is answered."""
    for size, status in ((MOST_HEAD + 10_000, 431), (MOST_HEAD - 10_000, 200)):
        query = f"?root={held.repo}&width=" + "0" * size if where == "the path" else f"?root={held.repo}"
        headers = {"one header": "x: " + "a" * size + "\r\n", "many headers": "x: aaaa\r\n" * (size // 5)}
        head = f"GET /api/v1/brief{query} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers.get(where, '')}\r\n"
        with _connect(held) as client:
            with contextlib.suppress(OSError):
                client.sendall(head.encode())
            raw = _rest(client)
        if status == 431:
            _refused(raw, 431)
        else:
            assert not raw.startswith(b"HTTP/1.1 431"), raw[:100]


@pytest.mark.parametrize("tcp", [False, True])
@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /api/v1/server HT",
        b"POST /api/v1/tasks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
    ],
)
def test_a_request_that_does_not_come_is_not_waited_for(begun: bytes, tcp: bool, held: Lab) -> None:
    """Nothing, half a head, half a body: the connection is ended within the time for a request."""
    with _connect(held, tcp=tcp) as client:
        client.sendall(begun)
        raw = _rest(client)
    if not (tcp and raw.startswith(b"HTTP/1.1 403")):  # nothing is written over TCP
        _refused(raw, 408)


def test_a_slow_trickle_is_not_waited_for_either(held: Lab) -> None:
    """A byte now and then does not begin the time anew."""
    begun = time.monotonic()
    with _connect(held) as client, contextlib.suppress(OSError):
        while time.monotonic() - begun < 10:
            client.sendall(b"G" if time.monotonic() == begun else b"E")
            time.sleep(0.05)
    assert time.monotonic() - begun < 9


def test_idle_connections_give_way(held: Lab) -> None:
    """However many are held open without a request, who asks is answered."""
    silent: list[socket.socket] = [_connect(held) for _ in range(3 * 8)]
    try:
        for _ in range(5):
            assert answers(held)
    finally:
        for client in silent:
            client.close()


def test_an_answer_that_nobody_reads_is_not_kept(lab: Lab) -> None:
    """A client that asks for much and reads nothing is cut off, and its answer is dropped."""
    lab.commit()
    serve(lab, QUICK)
    request = b"GET /api/v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n" * 200
    with _connect(lab) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.settimeout(0.3)
        with contextlib.suppress(OSError):
            client.sendall(request)
        client.settimeout(10)

        def is_cut_off() -> bool:
            try:
                client.send(b"x")
            except OSError as fault:
                return not isinstance(fault, BlockingIOError | TimeoutError)
            return False

        client.settimeout(0.05)
        until(is_cut_off, 10)
    assert answers(lab)


@pytest.mark.parametrize(("soft", "most"), [(64, 32), (1_024, MOST_CONNECTIONS), (1, 1), (resource.RLIM_INFINITY, 512)])
def test_half_of_the_descriptors_are_left_for_files(soft: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many connections are taken as half of the process's descriptors allow, and never more than the bound."""
    limit: Any = lambda _: (soft, soft)  # noqa: E731 - it stands in for a function of one line
    monkeypatch.setattr(resource, "getrlimit", limit)
    assert most_connections() == most
