"""What became of an answer: whether its client has read it, as far as the kernel tells.

The client sends nothing for it. One that closes its end with something unread resets the connection, one that has read all
ends it in order, and how much lies unread in a Unix socket can be asked.
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
"""How long an answer is watched: longer than any hook lives."""

_FIRST_PAUSE_SECONDS = 0.0005
_MOST_PAUSE_SECONDS = 0.1


class Receipt:
    """What becomes of the answer to one call; only one with status 200 tells anybody anything."""

    def __init__(self, scope: Scope) -> None:
        self._connection: Connection | None = (scope.get("extensions") or {}).get(EXTENSION)
        self._is_head = scope["method"] == "HEAD"
        self._is_answer = False
        self._socket: socket.socket | None = None
        self._was_closed = False

    def begin(self, status: int) -> None:
        """The answer begins."""
        self._is_answer = status == 200 and not self._is_head

    def watch(self) -> None:
        """Hold the socket from right before the last part is written, since the connection may be closed behind it."""
        if self._connection is None or not self._is_answer:
            return
        self._was_closed = True
        with contextlib.suppress(OSError):
            self._socket = self._connection.transport.get_extra_info("socket").dup()
            self._was_closed = isinstance(closed_in_order(self._socket), Known)

    async def reached(self) -> Reached:
        """Whether the client read the whole answer. Waits for it for a while where something depends on it."""
        if self._socket is None or self._connection is None:
            return Reached.UNREAD if self._was_closed else Reached.DOUBT
        try:
            return Reached.UNREAD if self._was_closed else await _watched(self._connection, self._socket)
        finally:
            self._socket.close()


async def _watched(connection: Connection, ours: socket.socket) -> Reached:
    has_ended = False
    for pause in _pauses():
        await asyncio.sleep(pause)  # and what the connection was lost with is known
        if not _is_whole(connection):
            return Reached.UNREAD
        if connection.transport.get_write_buffer_size():
            continue
        if connection.transport.is_closing() and not has_ended:
            # The held socket keeps the connection open; the client still waits for its end.
            has_ended = True
            with contextlib.suppress(OSError):
                ours.shutdown(socket.SHUT_WR)
        reached = _reached(ours)
        if reached is not None:
            await asyncio.sleep(0)  # a reset that the connection itself has read is known then
            return reached if _is_whole(connection) else Reached.UNREAD
    return Reached.DOUBT


def _is_whole(connection: Connection) -> bool:
    """Whether nothing went wrong while the answer was written."""
    return connection.fault is None


def _reached(ours: socket.socket) -> Reached | None:
    """What the socket tells; None where the client has not read all, and still may."""
    is_all_read = unread_bytes(ours) is ABSENT  # asked first: what a client leaves unread is dropped when it closes
    closed = closed_in_order(ours)
    if isinstance(closed, Known):
        return Reached.READ if closed.value else Reached.UNREAD
    return Reached.READ if is_all_read and closed is ABSENT else None


def unread_bytes(ours: socket.socket) -> Reading[int]:
    """How much of what was written to a Unix socket the other side has not taken; absent where that is nothing."""
    if ours.family != socket.AF_UNIX:
        return Unknown("is no Unix socket")
    try:
        (count,) = struct.unpack("i", fcntl.ioctl(ours.fileno(), termios.TIOCOUTQ, bytes(4)))
    except OSError as fault:
        return Unknown(f"cannot be asked: {fault.strerror}")
    return Known(count) if count else ABSENT


def closed_in_order(ours: socket.socket) -> Reading[bool]:
    """Whether the other side closed its end having read all there was; absent where it has not closed it."""
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
    """Nothing, then ever longer pauses, of WATCHED_SECONDS together."""
    yield 0.0
    pause, left = _FIRST_PAUSE_SECONDS, WATCHED_SECONDS
    while left > 0:
        yield min(pause, left)
        left -= pause
        pause = min(2 * pause, _MOST_PAUSE_SECONDS)
