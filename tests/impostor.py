"""Something that listens where a lease says a server does, and answers what the test wants."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from brief.fastpath.process import describe_process

EPOCH = 7


def answer(body: bytes, *, status: str = "200 OK", epoch: object = EPOCH, length: int | None = None) -> bytes:
    """A whole HTTP answer of the server of `epoch`."""
    head = (
        f"HTTP/1.1 {status}\r\nContent-Length: {len(body) if length is None else length}\r\nMajordomus-Epoch: {epoch}"
    )
    return head.encode() + b"\r\n\r\n" + body


def write_lease(common_dir: str, path: object, **changes: Any) -> dict[str, Any]:
    """A lease of this very process, changed as the test wants."""
    record = {
        "epoch": EPOCH,
        **describe_process(os.getpid()),
        "socket": str(path),
        **changes,
    }
    state = Path(common_dir) / "majordomus"
    state.mkdir(exist_ok=True)
    (state / "lease.json").write_text(json.dumps(record))
    return record


@contextlib.contextmanager
def listening(path: Path, serve: Callable[[socket.socket, bytes], None]) -> Iterator[list[bytes]]:
    """Answer every call with `serve`, which gets the connection and the request; yields the requests that came."""
    requests: list[bytes] = []

    def work() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    requests.append(connection.recv(65_536))
                    serve(connection, requests[-1])

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield requests
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def saying(raw: bytes) -> Callable[[socket.socket, bytes], None]:
    """Answer with these bytes and hang up."""

    def serve(connection: socket.socket, request: bytes) -> None:
        connection.sendall(raw)

    return serve
