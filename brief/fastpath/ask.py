"""Ask the server of a repository one question over its socket: HTTP/1.1, one connection, one deadline."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time

from brief.fastpath.jsontext import read_json, write_json
from brief.fastpath.lease import ENSURE, NoServerError, read_lease, why_busy, why_silent
from brief.fastpath.locate import spell_path
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
        # The module socket wraps this one in enums, selectors and files: 8 ms more, when the server answers in 2.
        import _socket as sockets
    except ImportError:  # it is not a public module
        import socket as sockets

COMMAND_SECONDS = 2.0
LINE_SECONDS = 0.5
SOON_SECONDS = 0.25
READ_SECONDS = 0.05
PING_SECONDS = 0.15
"""How long a server that has not answered may take to show that it is alive."""
MOST_BYTES = 16 * 1024 * 1024
_MOST_REASON = 400
_NO_UID = 2**32 - 1
_NOT_SENT = (FileNotFoundError, NotADirectoryError, ConnectionRefusedError, PermissionError)
"""Errors while connecting, after which it is certain that nobody received the call."""
_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


class Answer:
    """A server's answer: `status`, `headers` with lower-case names, `body` in bytes."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    def json(self) -> Any:
        """The body as JSON. Raises ValueError if it is not JSON."""
        return read_json(self.body)

    def error(self) -> str | None:
        """The sentence in which the server says why it refused. None if there is none."""
        try:
            problem = self.json()
        except (ValueError, RecursionError):
            return None
        error = problem.get("error") if isinstance(problem, dict) else None
        return error if isinstance(error, str) else None


DECLINED = (401, 403, 503)
"""The statuses that mean: the server, or whatever is in its place, did not handle the question."""


def why_declined(answer: Answer) -> str | None:
    """Why a server declined to answer: its status and reason. None if it answered, or refused the question itself."""
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
    """Ask the lease holder of a repository. Raises NoServerError with the reason if it does not answer.

    `path` is below `/api/v1`, `params` are the query, and `body` is sent as JSON. `seconds` bounds the whole exchange. If no
    answer comes soon, `meanwhile` prepares what will be needed if none comes at all. An answer is accepted only if it
    carries the epoch of the lease and this repository.
    """
    record = read_lease(common_dir)
    request = request_of(method, path, params, body)
    try:
        return exchange_request(
            record["socket"], spell_path(common_dir), record["epoch"], request, seconds=seconds, meanwhile=meanwhile
        )
    except OSError as fault:
        is_sent = not isinstance(fault, _NOT_SENT)
        is_busy = isinstance(fault, TimeoutError) and answers_ping(record, min(PING_SECONDS, seconds / 4))
        why = why_busy(record, seconds) if is_busy else why_silent(common_dir, record, fault)
        raise NoServerError(why, is_sent=is_sent) from None


def exchange_request(  # noqa: PLR0913 - each says whom to ask, what, or within which bound
    socket_path: str,
    repository: str,
    epoch: int,
    request: bytes,
    *,
    seconds: float,
    most: int = MOST_BYTES,
    meanwhile: Callable[[], object] | None = None,
) -> Answer:
    """The whole answer of the server of `epoch` at a socket, within `seconds` and at most `most` bytes.

    `repository` is its git folder as valid Unicode text. The caller must have proven by its name that the socket is the
    server's, as `read_lease` does. Nothing is sent unless socket and peer are proven to belong to this user. Raises
    TimeoutError or BlockingIOError if the server is silent, another OSError if it cannot be asked, and NoServerError if
    somebody else answers.
    """
    answer = _parse_answer(_exchange_bytes(socket_path, request, time.monotonic() + seconds, most, meanwhile))
    if answer is None or answer.headers.get("majordomus-epoch") != str(epoch):
        raise NoServerError(f"what answers at {socket_path} is not the server of epoch {epoch}")
    if answer.headers.get("majordomus-repository") != percent_encode(repository):
        raise NoServerError(f"what answers at {socket_path} is not the server of {repository}; {ENSURE}")
    return answer


def answers_ping(record: dict[str, Any], seconds: float) -> bool:
    """Whether the server that a lease names answers a question about itself, which needs neither git nor a disk."""
    try:
        question = request_of("GET", "/server", [])
        exchange_request(record["socket"], spell_path(record["common_dir"]), record["epoch"], question, seconds=seconds)
    except (OSError, NoServerError):
        return False
    return True


def _exchange_bytes(
    path: str, request: bytes, deadline: float, most: int, meanwhile: Callable[[], object] | None
) -> bytes:
    _refuse_foreign_socket(path)
    connection = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    try:
        connection.settimeout(_seconds_left(deadline))
        connection.connect(path)
        _refuse_foreign_peer(path, connection)
        connection.sendall(request)
        received = bytearray()
        if meanwhile is not None:
            if _arrives_soon(connection, received, deadline, most):
                return bytes(received)
            meanwhile()
            deadline = max(deadline, time.monotonic() + READ_SECONDS)  # an answer that arrived meanwhile is still read
        _receive(connection, received, deadline, most)
        return bytes(received)
    finally:
        connection.close()


def _refuse_foreign_socket(path: str) -> None:
    """Raise NoServerError unless the path is a socket of this user in a folder where nobody else may put one.

    Raises OSError if that cannot be checked.
    """
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
            f"the socket {path} has a second hard link, so it may be another server's and is not asked; {ENSURE}"
        )


def _refuse_foreign_peer(path: str, connection: socket) -> None:
    """Raise NoServerError unless the listening process is proven to belong to this user."""
    try:
        is_own = _read_peer_uid(connection) == os.geteuid()
    except OSError:
        is_own = False
    if not is_own:
        raise NoServerError(f"nothing is asked at {path}: {_describe_peer(peer_uid(connection))}")


def _describe_peer(uid: Reading[int]) -> str:
    from brief.fastpath.known import Known, Unknown  # noqa: PLC0415 - not needed for a server of ours

    if isinstance(uid, Known):
        return f"the process that listens there belongs to uid {uid.value}, not to you"
    return f"the owner of what listens there is unknown: {uid.reason if isinstance(uid, Unknown) else 'nobody does'}"


def peer_uid(connection: socket) -> Reading[int]:
    """The effective user of the process that listens at the other end of a Unix socket. Absent if nobody listens."""
    from brief.fastpath.known import ABSENT, Known, Unknown  # noqa: PLC0415 - not needed for a server of ours

    try:
        uid = _read_peer_uid(connection)
    except OSError as fault:
        return ABSENT if fault.errno == errno.ENOTCONN else Unknown(f"its user is unknown: {fault.strerror}")
    return ABSENT if uid == _NO_UID else Known(uid)


def _read_peer_uid(connection: socket) -> int:
    """The uid of the listening process by the kernel's word. Raises OSError, also on a system that cannot say.

    See unix(7) for Linux, unix(4) for macOS and FreeBSD. In both structures the uid is in bytes 4 to 8.
    """
    if sys.platform == "linux":
        credentials = connection.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12)
    elif hasattr(sockets, "LOCAL_PEERCRED"):
        credentials = connection.getsockopt(0, sockets.LOCAL_PEERCRED, 76)
    else:
        raise OSError(errno.ENOTSUP, "this system does not say")
    return int.from_bytes(credentials[4:8], sys.byteorder)


def _arrives_soon(connection: socket, received: bytearray, deadline: float, most: int) -> bool:
    """Whether the whole answer arrived soon."""
    try:
        _receive(connection, received, min(deadline, time.monotonic() + SOON_SECONDS), most)
    except TimeoutError:
        return False
    return True


def _receive(connection: socket, received: bytearray, deadline: float, most: int) -> None:
    """Add to `received` until the other side closes. After a TimeoutError it holds what has arrived."""
    while True:
        connection.settimeout(_seconds_left(deadline))
        piece = connection.recv(262_144)
        if not piece:
            return
        received += piece
        if len(received) > most:
            raise OSError(f"it sent more than {most} bytes")


def _seconds_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("no whole answer in time")
    return left


def request_of(method: str, path: str, params: list[tuple[str, str]], body: object = None) -> bytes:
    """The bytes of one request below `/api/v1`."""
    query = "&".join(f"{percent_encode(name)}={percent_encode(value)}" for name, value in params)
    payload = b"" if body is None else write_json(body).encode()
    kind = "" if body is None else "content-type: application/json\r\n"
    head = (
        f"{method} /api/v1{path}{'?' + query if query else ''} HTTP/1.1\r\n"
        f"host: majordomus\r\nconnection: close\r\n{kind}content-length: {len(payload)}\r\n\r\n"
    )
    return head.encode("ascii") + payload


def percent_encode(text: str) -> str:
    """Percent-encode text for a query or a header."""
    return "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))


def _parse_answer(raw: bytes) -> Answer | None:
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
