"""Tells from the kernel whether a client has read an answer.

The client sends no confirmation. But if it closes its end with data unread, the connection is reset; if it has read everything, the
connection ends in order; and the kernel knows how much is unread in a Unix socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import socket
import struct
import termios
from collections.abc import Iterator

from starlette.types import Scope

from brief.fastpath.known import ABSENT, Known, Unknown
from brief.server.connection import EXTENSION, Connection
from brief.support.delivery import Reached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brief.fastpath.known import Reading

WATCHED_SECONDS = 2.5
"""How long an answer is watched: longer than any hook runs."""

_FIRST_PAUSE_SECONDS = 0.0005
_MOST_PAUSE_SECONDS = 0.1


class Receipt:
    """Whether the answer to one call was read. Only answers with status 200 matter."""

    def __init__(self, scope: Scope) -> None:
        self._connection: Connection | None = (scope.get("extensions") or {}).get(EXTENSION)
        self._is_head = scope["method"] == "HEAD"
        self._is_answer = False
        self._socket: socket.socket | None = None
        self._was_closed = False

    def begin(self, status: int) -> None:
        """Note the status with which the answer starts."""
        self._is_answer = status == 200 and not self._is_head

    def watch(self) -> None:
        """Duplicate the socket just before the last part is written, because the connection may be closed right after it."""
        if self._connection is None or not self._is_answer:
            return
        self._was_closed = True
        with contextlib.suppress(OSError):
            self._socket = self._connection.transport.get_extra_info("socket").dup()
            self._was_closed = isinstance(closed_in_order(self._socket), Known)

    async def wait(self) -> Reached:
        """Whether the client read the whole answer. Waits up to 2.5 s for that."""
        if self._socket is None or self._connection is None:
            return Reached.UNREAD if self._was_closed else Reached.DOUBT
        try:
            return Reached.UNREAD if self._was_closed else await _watch_socket(self._connection, self._socket)
        finally:
            self._socket.close()


async def _watch_socket(connection: Connection, ours: socket.socket) -> Reached:
    has_ended = False
    for pause in _pauses():
        await asyncio.sleep(pause)  # lets the connection notice how it ended
        if not _is_whole(connection):
            return Reached.UNREAD
        if connection.transport.get_write_buffer_size():
            continue
        if connection.transport.is_closing() and not has_ended:
            # Our duplicate keeps the connection open, and the client waits for its end.
            has_ended = True
            with contextlib.suppress(OSError):
                ours.shutdown(socket.SHUT_WR)
        reached = _read_socket(ours)
        if reached is not None:
            await asyncio.sleep(0)  # lets the connection notice a reset
            return reached if _is_whole(connection) else Reached.UNREAD
    return Reached.DOUBT


def _is_whole(connection: Connection) -> bool:
    """Whether the connection has met no error so far."""
    return connection.fault is None


def _read_socket(ours: socket.socket) -> Reached | None:
    """What the socket says, or None if the client has not read everything but still may."""
    is_all_read = unread_bytes(ours) is ABSENT  # checked first, since unread data is dropped when a client closes
    closed = closed_in_order(ours)
    if isinstance(closed, Known):
        return Reached.READ if closed.value else Reached.UNREAD
    return Reached.READ if is_all_read and closed is ABSENT else None


def unread_bytes(ours: socket.socket) -> Reading[int]:
    """The number of bytes written to a Unix socket that the other side has not read. Absent if that is zero."""
    if ours.family != socket.AF_UNIX:
        return Unknown("is not a Unix socket")
    try:
        (count,) = struct.unpack("i", fcntl.ioctl(ours.fileno(), termios.TIOCOUTQ, bytes(4)))
    except OSError as fault:
        return Unknown(f"cannot be asked: {fault.strerror}")
    return Known(count) if count else ABSENT


def closed_in_order(ours: socket.socket) -> Reading[bool]:
    """Whether the other side closed its end after reading everything. Absent if it has not closed it."""
    try:
        has_more = bool(ours.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return ABSENT
    except (ConnectionResetError, BrokenPipeError):
        return Known(value=False)
    except OSError as fault:
        return Unknown(f"cannot be asked: {fault.strerror}")
    return ABSENT if has_more else Known(value=True)


def _pauses() -> Iterator[float]:
    """No pause at first, then ever longer ones, WATCHED_SECONDS in total."""
    yield 0.0
    pause, left = _FIRST_PAUSE_SECONDS, WATCHED_SECONDS
    while left > 0:
        yield min(pause, left)
        left -= pause
        pause = min(2 * pause, _MOST_PAUSE_SECONDS)
