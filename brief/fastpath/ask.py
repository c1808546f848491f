"""One question to the server of a repository over its socket: HTTP/1.1, one connection, one deadline."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time

from brief.fastpath.jsontext import read_json, write_json
from brief.fastpath.lease import ENSURE, NoServerError, read_lease, why_busy, why_silent
from brief.fastpath.locate import spelled
from brief.fastpath.proof import UnprovenError, check

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing takes longer than asking the server
    import socket as sockets
    from collections.abc import Callable
    from socket import socket
    from typing import Any

    from brief.fastpath.known import Reading
else:
    try:
        # The module socket is this one with enums, selectors and files: 8 ms more, where the server answers in 2.
        import _socket as sockets
    except ImportError:  # it is no public module
        import socket as sockets

COMMAND_SECONDS = 2.0
LINE_SECONDS = 0.5
SOON_SECONDS = 0.25
READ_SECONDS = 0.05
PING_SECONDS = 0.15
"""How long a server that left a question open has to show that it is not silent."""
MOST_BYTES = 16 * 1024 * 1024
_MOST_REASON = 400
_NO_UID = 2**32 - 1
_NOT_SENT = (FileNotFoundError, NotADirectoryError, ConnectionRefusedError, PermissionError)
"""Faults of connecting: nobody received the call."""
_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


class Answer:
    """What a server said: `status`, `headers` with names in lower case, `body` in bytes."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    def json(self) -> Any:
        """The body as JSON; ValueError where it is none."""
        return read_json(self.body)

    def error(self) -> str | None:
        """The sentence that says why the server refused; None where it came without one."""
        try:
            told = self.json()
        except (ValueError, RecursionError):
            return None
        error = told.get("error") if isinstance(told, dict) else None
        return error if isinstance(error, str) else None


DECLINED = (401, 403, 503)
"""The statuses by which a server, or what stands in its place, says nothing about what was asked."""


def why_declined(answer: Answer) -> str | None:
    """Why a server does not answer, with the code and its reason; None where it did, or refused the question itself."""
    if answer.status not in DECLINED:
        return None
    return f"the server answered {answer.status}: {answer.error() or 'it gave no reason'}"[:_MOST_REASON]


def ask(  # noqa: PLR0913 - the parts of a request and what bounds it, each by its name
    common_dir: str,
    method: str,
    path: str,
    params: list[tuple[str, str]],
    body: object = None,
    *,
    seconds: float = COMMAND_SECONDS,
    meanwhile: Callable[[], object] | None = None,
) -> Answer:
    """Ask the lease holder of a repository; raises NoServerError with the reason where it does not answer.

    `path` is below `/api/v1`; `params` are the query, `body` goes as JSON. `seconds` bounds the whole exchange.
    Where no answer comes soon, `meanwhile` is done while it is waited for: what will be needed if none comes at all.
    An answer that does not carry the epoch of the lease and this repository is not taken.
    """
    record = read_lease(common_dir)
    request = request_of(method, path, params, body)
    try:
        return exchange(
            record["socket"], spelled(common_dir), record["epoch"], request, seconds=seconds, meanwhile=meanwhile
        )
    except OSError as fault:
        is_sent = not isinstance(fault, _NOT_SENT)
        is_busy = isinstance(fault, TimeoutError) and answers_ping(record, min(PING_SECONDS, seconds / 4))
        why = why_busy(record, seconds) if is_busy else why_silent(common_dir, record, fault)
        raise NoServerError(why, is_sent=is_sent) from None


def exchange(  # noqa: PLR0913 - who is asked, what, and what bounds it, each by its name
    socket_path: str,
    repository: str,
    epoch: int,
    request: bytes,
    *,
    seconds: float,
    most: int = MOST_BYTES,
    meanwhile: Callable[[], object] | None = None,
) -> Answer:
    """What the server of `epoch` answers at a socket, whole, within `seconds` and in at most `most` bytes.

    `repository` is its git folder, spelled as it travels. Whoever names the socket has it from where it was proven to be
    the server's by its name: see `read_lease`. Nothing is sent unless socket and peer are proven to be of this user. Raises TimeoutError or BlockingIOError where the
    server is silent, another OSError where it cannot be asked, and NoServerError where somebody else answers.
    """
    answer = _parsed(_exchanged(socket_path, request, time.monotonic() + seconds, most, meanwhile))
    if answer is None or answer.headers.get("majordomus-epoch") != str(epoch):
        raise NoServerError(f"what answers at {socket_path} is not the server of epoch {epoch}")
    if answer.headers.get("majordomus-repository") != quoted(repository):
        raise NoServerError(f"what answers at {socket_path} is not the server of {repository}; {ENSURE}")
    return answer


def answers_ping(record: dict[str, Any], seconds: float) -> bool:
    """Whether the server that a lease names answers a question about itself, for which it needs no git and no disk."""
    try:
        question = request_of("GET", "/server", [])
        exchange(record["socket"], spelled(record["common_dir"]), record["epoch"], question, seconds=seconds)
    except (OSError, NoServerError):
        return False
    return True


def _exchanged(path: str, request: bytes, deadline: float, most: int, meanwhile: Callable[[], object] | None) -> bytes:
    _refuse_foreign_socket(path)
    connection = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    try:
        connection.settimeout(_left(deadline))
        connection.connect(path)
        _refuse_foreign_peer(path, connection)
        connection.sendall(request)
        received = bytearray()
        if meanwhile is not None:
            if _soon(connection, received, deadline, most):
                return bytes(received)
            meanwhile()
            deadline = max(deadline, time.monotonic() + READ_SECONDS)  # what came meanwhile is still read
        _receive(connection, received, deadline, most)
        return bytes(received)
    finally:
        connection.close()


def _refuse_foreign_socket(path: str) -> None:
    """Raise NoServerError for what is no socket of this user, or lies where others may put one; OSError if that cannot be looked at."""
    folder = os.path.dirname(path)
    try:
        check(os.lstat(folder), folder, is_folder=True)
    except UnprovenError as fault:
        raise NoServerError(f"no server is asked: {fault}") from None
    found = os.lstat(path)
    if not stat.S_ISSOCK(found.st_mode):
        raise NoServerError(f"{path} is not a socket, so no server is asked there; {ENSURE}")
    if found.st_uid != os.geteuid():
        raise NoServerError(f"the socket {path} belongs to uid {found.st_uid}, not to you, so no server is asked there")
    if found.st_nlink > 1:
        raise NoServerError(
            f"the socket {path} has another name too, so it may be anybody's, and is not asked; {ENSURE}"
        )


def _refuse_foreign_peer(path: str, connection: socket) -> None:
    """Raise NoServerError unless who listens is proven to be this user."""
    try:
        is_own = _told_uid(connection) == os.geteuid()
    except OSError:
        is_own = False
    if not is_own:
        raise NoServerError(f"nothing is asked at {path}: {_describe_peer(peer_uid(connection))}")


def _describe_peer(uid: Reading[int]) -> str:
    from brief.fastpath.known import Known, Unknown  # noqa: PLC0415 - a server of ours needs none of it

    if isinstance(uid, Known):
        return f"who listens there is uid {uid.value}, not you"
    return f"who listens there cannot be told, since {uid.reason if isinstance(uid, Unknown) else 'nobody does'}"


def peer_uid(connection: socket) -> Reading[int]:
    """The effective user of the process that listens at the other end of a Unix socket; absent where nobody does."""
    from brief.fastpath.known import ABSENT, Known, Unknown  # noqa: PLC0415 - a server of ours needs none of it

    try:
        uid = _told_uid(connection)
    except OSError as fault:
        return ABSENT if fault.errno == errno.ENOTCONN else Unknown(f"its user cannot be asked for: {fault.strerror}")
    return ABSENT if uid == _NO_UID else Known(uid)


def _told_uid(connection: socket) -> int:
    """What the kernel says of who listens; raises OSError, also where the system has no such word.

    See unix(7) for Linux, unix(4) for macOS and FreeBSD. In the structures of both the uid stands in bytes 4 to 8.
    """
    if sys.platform == "linux":
        told = connection.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12)
    elif hasattr(sockets, "LOCAL_PEERCRED"):
        told = connection.getsockopt(0, sockets.LOCAL_PEERCRED, 76)
    else:
        raise OSError(errno.ENOTSUP, "this system does not tell")
    return int.from_bytes(told[4:8], sys.byteorder)


def _soon(connection: socket, received: bytearray, deadline: float, most: int) -> bool:
    """Whether the answer was whole soon."""
    try:
        _receive(connection, received, min(deadline, time.monotonic() + SOON_SECONDS), most)
    except TimeoutError:
        return False
    return True


def _receive(connection: socket, received: bytearray, deadline: float, most: int) -> None:
    """Add to `received` until the other side ends; raises TimeoutError with what came by then in it."""
    while True:
        connection.settimeout(_left(deadline))
        piece = connection.recv(262_144)
        if not piece:
            return
        received += piece
        if len(received) > most:
            raise OSError(f"it sent more than {most} bytes")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("no whole answer in time")
    return left


def request_of(method: str, path: str, params: list[tuple[str, str]], body: object = None) -> bytes:
    """The bytes of one call below `/api/v1`."""
    query = "&".join(f"{quoted(name)}={quoted(value)}" for name, value in params)
    payload = b"" if body is None else write_json(body).encode()
    kind = "" if body is None else "content-type: application/json\r\n"
    head = (
        f"{method} /api/v1{path}{'?' + query if query else ''} HTTP/1.1\r\n"
        f"host: majordomus\r\nconnection: close\r\n{kind}content-length: {len(payload)}\r\n\r\n"
    )
    return head.encode("ascii") + payload


def quoted(text: str) -> str:
    """Text as it stands in a query or a header: what is no plain letter is spelled out by its bytes."""
    return "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))


def _parsed(raw: bytes) -> Answer | None:
    head, separator, body = raw.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ", 2)
    if not separator or len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit():
        return None
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    length = headers.get("content-length", "")
    if not length.isdigit() or int(length) != len(body):
        return None
    return Answer(int(words[1]), headers, body)
