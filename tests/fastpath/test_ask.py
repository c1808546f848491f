from __future__ import annotations

import contextlib
import errno
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brief.fastpath.ask import MOST_BYTES, Answer, ask
from brief.fastpath.lease import NoServerError
from impostor import EPOCH, answer, listening, saying, send, socket_of, write_lease
from sandbox import Lab

Served = Callable[[Callable[[socket.socket, bytes], None]], contextlib.AbstractContextManager[list[bytes]]]
IMPOSTOR = f"is not the server of epoch {EPOCH}"


@pytest.fixture
def served(lab: Lab) -> Served:
    """Listen where the lease of the lab says."""
    path = socket_of(lab)

    @contextlib.contextmanager
    def entered(serve: Callable[[socket.socket, bytes], None]) -> Iterator[list[bytes]]:
        write_lease(lab.common_dir, path)
        with listening(path, serve) as requests:
            yield requests

    return entered


def asked(lab: Lab, seconds: float = 30.0) -> Answer:
    """Ask for a brief."""
    return ask(lab.common_dir, "GET", "/brief", [("root", "/a b/ě&"), ("section", "peers")], seconds=seconds)


def refused(lab: Lab, seconds: float = 30.0) -> str:
    """Why nobody answered."""
    with pytest.raises(NoServerError) as caught:
        asked(lab, seconds)
    return str(caught.value)


def test_answered(lab: Lab, served: Served) -> None:
    """One request goes out, quoted and whole, and its answer comes back with status, headers and body."""
    with served(saying(answer(b'{"a": 1}'))) as requests:
        got = asked(lab)
    assert (got.status, got.json(), got.headers["majordomus-epoch"]) == (200, {"a": 1}, str(EPOCH))
    assert requests[0].startswith(b"GET /api/v1/brief?root=/a%20b/%C4%9B%26&section=peers HTTP/1.1\r\n")
    assert b"connection: close\r\n" in requests[0]


def test_body(lab: Lab, served: Served) -> None:
    """A body is sent as JSON, with its length in bytes."""
    with served(saying(answer(b""))) as requests:
        ask(lab.common_dir, "POST", "/tasks", [], {"title": "ě"})
    head, _, body = requests[0].partition(b"\r\n\r\n")
    assert body == b'{"title": "\\u011b"}'
    assert f"content-length: {len(body)}".encode() in head


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"garbage",
        b"\xff\x00" * 100,
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nMajordomus-Epoch: 7\r\nContent-Le",
        b"HTTP/1.1 two OK\r\n\r\n",
        b"HTTP/1.1\r\n\r\n",
        b"SSH-2.0 200\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nMajordomus-Epoch: 7\r\n\r\nno length",
        b"HTTP/1.1 200 OK\r\nMajordomus-Epoch: 7\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        answer(b"half", length=8),
        answer(b"too much", length=4),
        answer(b"", length=-1),
        answer(b"of another", epoch=EPOCH + 1),
        answer(b"of nobody", epoch=""),
        answer(b"of no repository", repository=None),
        answer(b"of another repository", repository="/other/.git"),
    ],
    ids=lambda raw: repr(raw[-40:]),
)
def test_not_an_answer_of_this_server(lab: Lab, served: Served, raw: bytes) -> None:
    """Garbage, an answer that was cut, chunked, or of another epoch or repository is taken from nobody."""
    theirs = f"is not the server of {lab.common_dir};" if b"repository" in raw.partition(b"\r\n\r\n")[2] else IMPOSTOR
    with served(saying(raw)):
        assert theirs in refused(lab)


def test_silent_server(lab: Lab, served: Served) -> None:
    """A server that accepts and stays silent is waited for until the deadline, not longer."""
    let_go = threading.Event()
    with served(lambda connection, request: (let_go.wait(60), None)[1]):
        try:
            assert "holds and is silent" in refused(lab, seconds=0.2)
        finally:
            let_go.set()


def test_dripping_server(lab: Lab, served: Served) -> None:
    """The deadline bounds the whole answer: a byte now and then does not prolong it."""
    let_go = threading.Event()

    def drip(connection: socket.socket, request: bytes) -> None:
        while not let_go.wait(0.02):
            connection.sendall(b"H")

    with served(drip):
        try:
            assert "holds and is silent" in refused(lab, seconds=0.3)
        finally:
            let_go.set()


def test_endless_answer(lab: Lab, served: Served) -> None:
    """An answer without an end is not kept beyond its bound."""

    def pour(connection: socket.socket, request: bytes) -> None:
        while True:
            connection.sendall(b"x" * 65_536)

    with served(pour):
        assert f"it sent more than {MOST_BYTES} bytes" in refused(lab)


def test_server_that_hangs_up(lab: Lab, served: Served) -> None:
    """A connection that is closed without a byte gives no answer."""
    with served(lambda connection, request: None):
        assert IMPOSTOR in refused(lab)


def test_socket_that_nobody_listens_at(lab: Lab) -> None:
    """A socket file without a listener, none at all, and a path too long for one each give a sentence."""
    path = socket_of(lab)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
    for name in (path, lab.home / "majordomus" / path.name, Path(f"/{'x' * 200}/majordomus/{path.name}")):
        write_lease(lab.common_dir, name)
        assert f"does not answer at {name}" in refused(lab)


def test_full_backlog(lab: Lab) -> None:
    """A server that accepts no connection any more is reported as silent."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(path))
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                waiting = stack.enter_context(socket.socket(socket.AF_UNIX))
                waiting.setblocking(False)
                waiting.connect(str(path))
        assert "holds and is silent" in refused(lab, seconds=0.2)


# ---------------------------------------------------------------- who listens

FOREIGN_UID = 54_321


@contextlib.contextmanager
def foreign(path: Path, uid: int) -> Iterator[list[bytes]]:
    """Listen in a process of another user, which needs root; yields what was sent to it once it has ended."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to listen as a second uid")
    heard: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        os.chown(path, uid, uid)
        path.chmod(0o777)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
                listener.listen()
                os.write(writing, b"listening")
                connection, _ = listener.accept()
                connection.settimeout(20)
                sent = connection.recv(65_536)
                with contextlib.suppress(OSError):
                    send(connection, answer(b"PLANTED"))
                os.write(writing, sent)
            os._exit(0)
        os.close(writing)
        assert os.read(reading, 100) == b"listening"
        try:
            yield heard
        finally:
            with socket.socket(socket.AF_UNIX) as last, contextlib.suppress(OSError):
                last.connect(str(path))  # it may wait for a first call still
            heard.append(os.read(reading, 65_536))
            os.close(reading)
            os.waitpid(child, 0)


def test_a_socket_of_another_uid(lab: Lab) -> None:
    """A lease may name a socket of somebody else's: no connection is made."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    with foreign(path, FOREIGN_UID) as heard:
        assert f"the socket {path} belongs to uid {FOREIGN_UID}, not to you" in refused(lab)
    assert heard == [b""]


def test_a_listener_of_another_uid(lab: Lab) -> None:
    """If somebody else listens at a socket of ours, the kernel says so before anything is sent."""
    path = socket_of(lab)
    write_lease(lab.common_dir, path)
    with foreign(path, FOREIGN_UID) as heard:
        os.chown(path, 0, 0)
        assert (
            refused(lab)
            == f"nothing is asked at {path}: the process that listens there belongs to uid {FOREIGN_UID}, not to you"
        )
    assert heard == [b""]


def test_a_listener_that_cannot_be_told(lab: Lab, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the system does not say who listens, no answer is believed."""

    def fail(_: socket.socket) -> int:
        raise OSError(errno.ENOTSUP, "this system does not say")

    told = "the owner of what listens there is unknown: "
    for answered, why in (
        (fail, "its user is unknown: this system does not say"),
        (lambda _: 2**32 - 1, "nobody does"),
    ):
        monkeypatch.setattr("brief.fastpath.ask._read_peer_uid", answered)
        with served(saying(answer(b"x"))) as requests:
            assert refused(lab).endswith(told + why)
        (socket_of(lab)).unlink()
        assert requests == [b""]


def test_a_link_to_a_socket(lab: Lab, served: Served) -> None:
    """A link does not count as a socket, even one to a socket of ours, since its target may change."""
    with served(saying(answer(b"x"))) as requests:
        path = socket_of(lab)
        path.rename(path.with_name("moved"))
        path.symlink_to("moved")
        assert f"{path} is not a socket, so no server is asked there" in refused(lab)
    assert requests == []


def test_a_socket_with_another_name(lab: Lab, served: Served) -> None:
    """A hard link gives any socket of the user the name of ours: none that has two names is asked."""
    with served(saying(answer(b"x"))) as requests:
        os.link(socket_of(lab), lab.runtime / "agent.sock")
        assert f"the socket {socket_of(lab)} has a second hard link" in refused(lab)
    assert requests == []


@pytest.mark.parametrize("spoil", ["wide", "link"])
def test_a_folder_of_sockets_that_others_may_change(lab: Lab, served: Served, spoil: str) -> None:
    """If others could put a socket there, or a link leads to the folder, no server is asked."""
    folder = socket_of(lab).parent
    with served(saying(answer(b"x"))) as requests:
        if spoil == "wide":
            folder.chmod(0o777)
        else:
            folder.rename(lab.runtime / "moved")
            folder.symlink_to("moved")
        assert f"no server is asked: {folder} " in refused(lab)
    assert requests == []


@pytest.mark.parametrize("case", ["an agent", "another folder", "another epoch", "another repository"])
def test_a_lease_that_names_another_socket_of_the_user(lab: Lab, case: str) -> None:
    """A lease that came with an archive may name an agent or another repository's server: no connection is made there."""
    own = socket_of(lab)
    paths = {
        "an agent": lab.runtime / "agent.sock",
        "another folder": lab.runtime / own.name,
        "another epoch": own.with_name(own.name.replace(f"-{EPOCH}.", f"-{EPOCH + 1}.")),
        "another repository": own.with_name(f"{'0' * 12}-{EPOCH}.sock"),
    }
    path = paths[case]
    write_lease(lab.common_dir, path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(0)
        assert f"names {path}, which is not the socket of a server of this repository" in refused(lab)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_server_that_waits_for_something_is_not_silent(lab: Lab, served: Served) -> None:
    """A server that leaves a question open but answers about itself is there: nobody is advised to replace it."""
    kept: list[socket.socket] = []

    def serve(connection: socket.socket, request: bytes) -> None:
        if request.startswith(b"GET /api/v1/server "):
            send(connection, answer(b"{}"))
        else:
            kept.append(connection.dup())

    with served(serve):
        told = refused(lab, seconds=0.4)
    assert "is there and has not answered within 0.4 s: it waits for git or a disk" in told
    assert "serve ensure" not in told
    for one in kept:
        one.close()
