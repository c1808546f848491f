"""A server that belongs to another user, and a lease that names it like one of ours."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from brief.fastpath.ask import percent_encode
from hostile import FOREIGN
from impostor import socket_in
from sandbox import Lab

MARK = "PLANTED"
_EPOCH = 7
_BODY = json.dumps({"context": MARK, "lease": "holds", "pid": 1, "epoch": _EPOCH, "version": MARK, "error": MARK})


def answer(common_dir: str) -> bytes:
    """An answer to any question: the mark as text and JSON, with control characters for a terminal."""
    body = _BODY.encode() + b"\x1b]0;x\x07\n"
    head = f"HTTP/1.1 200 OK\r\nmajordomus-epoch: {_EPOCH}\r\nmajordomus-read: in-full"
    named = f"majordomus-repository: {percent_encode(common_dir)}\r\ncontent-length: {len(body)}"
    return f"{head}\r\n{named}\r\n\r\n".encode() + body


@contextlib.contextmanager
def planted_server(lab: Lab) -> Iterator[Path]:
    """Listen as another user, which needs root, and leave a lease. Yields the file that counts the calls."""
    lab.base.chmod(0o711)
    folder = lab.base / "foreign"
    folder.mkdir()
    os.chown(folder, FOREIGN, FOREIGN)
    heard, path = folder / "heard", socket_in(folder, lab.common_dir, _EPOCH)
    path.parent.mkdir()
    os.chown(path.parent, FOREIGN, FOREIGN)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            _serve(path, heard, writing, answer(lab.common_dir))
        os._exit(0)
    os.close(writing)
    assert os.read(reading, 1) == b"!"
    os.close(reading)
    lab.state.mkdir(mode=0o700, exist_ok=True)
    record = {
        "schema": "majordomus.lease/v1",
        "epoch": _EPOCH,
        "pid": child,
        "socket": str(path),
        "common_dir": lab.common_dir,
    }
    (lab.state / "lease.json").write_text(json.dumps(record))
    try:
        yield heard
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def _serve(path: Path, heard: Path, writing: int, told: bytes) -> None:
    os.setgroups([])
    os.setgid(FOREIGN)
    os.setuid(FOREIGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o777)
        listener.listen(64)
        os.write(writing, b"!")
        while True:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                said = connection.recv(1 << 20)
                with heard.open("ab") as file:
                    file.write(said)
                connection.sendall(told)


def give_away(folder: Path) -> None:
    """Give a folder and everything in it to the other user."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, FOREIGN, FOREIGN, follow_symlinks=False)
