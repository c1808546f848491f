"""A keep-alive client that does as little as Python allows, so that the time measured is the server's."""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

_END = b"\r\n\r\n"
_LENGTH = b"content-length: "


def get(target: str) -> bytes:
    """Return the GET request for a path below `/api/v1`."""
    return f"GET /api/v1{target} HTTP/1.1\r\nhost: majordomus\r\n\r\n".encode()


def post(target: str, **fields: object) -> bytes:
    """Return the POST request with these fields as JSON."""
    body = json.dumps(fields).encode()
    head = f"POST /api/v1{target} HTTP/1.1\r\nhost: majordomus\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


class Client:
    """One Unix socket connection, kept open for every request."""

    def __init__(self, path: str) -> None:
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._connection.settimeout(10)
        self._connection.connect(path)

    def ask(self, request: bytes) -> float:
        """Send a request, read the whole answer and return the milliseconds. Raises RuntimeError unless the status is 200."""
        begun = time.perf_counter()
        self._connection.sendall(request)
        received = self._connection.recv(262_144)
        while _END not in received:
            received += self._connection.recv(262_144)
        left = _missing(received)
        while left > 0:
            left -= len(self._connection.recv(262_144))
        return (time.perf_counter() - begun) * 1000

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()


def _missing(received: bytes) -> int:
    """Return how many bytes of the body are still to come."""
    head, _, body = received.partition(_END)
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(received.decode("utf-8", "replace"))
    at = head.lower().index(_LENGTH) + len(_LENGTH)
    return int(head[at:].partition(b"\r\n")[0]) - len(body)


def median_get(path: str, target: str, count: int, before: Callable[[int], object] = lambda _: None) -> float:
    """Return the median of `count` calls in milliseconds; `before` runs before each call, with the call's number."""
    request = get(target)
    with Client(path) as client:
        client.ask(request)
        spent = []
        for number in range(count):
            before(number)
            spent.append(client.ask(request))
    return statistics.median(spent)


def throughput(path: str, target: str, clients: int, seconds: float) -> float:
    """Return answers per second for this many clients, each a process that always has a request under way."""
    argv = [sys.executable, "-m", "bench.client", path, target, str(seconds)]
    started = [subprocess.Popen(argv, stdout=subprocess.PIPE) for _ in range(clients)]
    return sum(float(process.communicate()[0]) for process in started)


def _rate(path: str, target: str, seconds: float) -> float:
    """Return answers per second for this process alone."""
    request = get(target)
    with Client(path) as client:
        client.ask(request)
        count, begun = 0, time.perf_counter()
        while time.perf_counter() - begun < seconds:
            client.ask(request)
            count += 1
        return count / (time.perf_counter() - begun)


if __name__ == "__main__":
    sys.stdout.write(f"{_rate(sys.argv[1], sys.argv[2], float(sys.argv[3]))}\n")
