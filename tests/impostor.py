"""A process that listens where a lease says that a server does, and answers what the test wants."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from brief.fastpath.ask import percent_encode
from brief.fastpath.lease import RUNTIME, socket_name
from brief.fastpath.locate import spell_path
from brief.fastpath.process import describe_process
from sandbox import Lab

EPOCH = 7
_HERE = b"{repository}"
_git_folders: dict[str, str] = {}
"""The git folders of the sockets that leases name."""


def answer(
    body: bytes,
    *,
    status: str = "200 OK",
    epoch: object = EPOCH,
    length: int | None = None,
    repository: str | None = _HERE.decode(),
) -> bytes:
    """A whole HTTP answer of the server of `epoch`. `send` fills in the repository of the socket."""
    head = (
        f"HTTP/1.1 {status}\r\nContent-Length: {len(body) if length is None else length}\r\nMajordomus-Epoch: {epoch}"
    )
    named = "" if repository is None else f"\r\nMajordomus-Repository: {repository}"
    return f"{head}{named}\r\n\r\n".encode() + body


def send(connection: socket.socket, raw: bytes) -> None:
    """Answer with these bytes, as the server of the repository whose lease names the socket."""
    common_dir = _git_folders[connection.getsockname()]
    connection.sendall(raw.replace(_HERE, percent_encode(spell_path(common_dir)).encode(), 1))


def socket_of(lab: Lab) -> Path:
    """The path of the socket at which the server of EPOCH would listen."""
    path = socket_in(lab.runtime, lab.common_dir)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    return path


def socket_in(runtime: Path, common_dir: str, epoch: int = EPOCH) -> Path:
    """The path of a server's socket in a runtime folder."""
    return runtime / RUNTIME / socket_name(common_dir, epoch)


def write_lease(common_dir: str, path: object, **changes: Any) -> dict[str, Any]:
    """A lease that names this very process, with the changes that the test wants."""
    record = {
        "epoch": EPOCH,
        "common_dir": common_dir,
        **describe_process(os.getpid()),
        "socket": str(path),
        **changes,
    }
    _git_folders[str(path)] = common_dir
    state = Path(common_dir) / "majordomus"
    state.mkdir(exist_ok=True)
    (state / "lease.json").write_text(json.dumps(record))
    return record


@contextlib.contextmanager
def listening(path: Path, serve: Callable[[socket.socket, bytes], None]) -> Iterator[list[bytes]]:
    """Answer every call with `serve`, which gets the connection and the request. Yields the list of received requests."""
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
    """Answer with these bytes and close the connection."""

    def serve(connection: socket.socket, request: bytes) -> None:
        send(connection, raw)

    return serve
