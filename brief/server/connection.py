"""HTTP connections with bounds: the size of a request's head, the time of each step, and the number of connections.

They apply to the Unix socket and to TCP, so that no client can use up memory or descriptors by holding connections open.
"""

from __future__ import annotations

import asyncio
import json
import resource
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from brief.core.model.errors import USAGE

EXTENSION = "majordomus.connection"
"""The key of `scope["extensions"]` under which the connection of a call is found."""

MOST_HEAD = 65_536
MOST_CONNECTIONS = 512
REQUEST_SECONDS = 10.0
"""How long a request may take to arrive in full, and how long a client may read nothing of an answer."""

IDLE_SECONDS = 1.0
"""How long a connection must have been idle before it may be closed in favour of a new one."""


def most_connections() -> int:
    """The number of connections that may be open at once: at most half of the descriptors, to leave some for files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(1, min(MOST_CONNECTIONS, soft // 2))


class Connection(HttpToolsProtocol):
    """uvicorn's connection, which is refused or closed once it exceeds a bound.

    `fault` is the error that ended the connection; None while it is open, and after an orderly end. `idle_since` is when it
    was made or finished its last answer, on the clock of the event loop.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.fault: Exception | None = None
        self.idle_since = self.loop.time()
        self._is_receiving = False
        self._has_head = False
        self._has_completed = False
        self._head_bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    # ---------------------------------------------------------------- the connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows it too
        """Accept the connection, or refuse it if too many are open and none of them is idle."""
        super().connection_made(transport)
        if len(self.connections) > most_connections() and not self._make_room():
            self._refuse(503, f"{len(self.connections) - 1} connections are open; ask again")
            return
        self._time_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection."""
        self.fault = exc
        self._stop_timer()
        super().connection_lost(exc)

    def _make_room(self) -> bool:
        """Close the connection that has been idle longest. False if none is idle."""
        ends = self.loop.time() - IDLE_SECONDS
        others = (cast(Connection, one) for one in self.connections if one is not self)
        idle = [one for one in others if one.is_idle and one.idle_since < ends]
        if not idle:
            return False
        min(idle, key=lambda one: one.idle_since).transport.abort()
        return True

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered. A request that has not fully arrived does not count."""
        return self._current_cycle is None

    @property
    def _current_cycle(self) -> RequestResponseCycle | None:
        """The request that is being answered, if any."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return None if cycle is None or cycle.response_complete else cycle

    # ---------------------------------------------------------------- a request

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request."""
        if self.transport.is_closing():
            return
        if not self._is_receiving:
            self._time_request()
        self._has_completed = False
        super().data_received(data)
        if not self._has_head and not self._has_completed and not self.transport.is_closing():
            self._count_head(len(data))

    def on_message_begin(self) -> None:
        """Start to receive a request."""
        super().on_message_begin()
        self.scope["extensions"] = {EXTENSION: cast(dict[object, object], self)}
        self._is_receiving, self._has_head, self._head_bytes = True, False, 0

    def on_headers_complete(self) -> None:
        """Start to answer, unless the head was too long."""
        self._has_head = True
        self._count_head(len(self.url) + sum(len(name) + len(value) for name, value in self.headers) - self._head_bytes)
        if not self.transport.is_closing():
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Receive a part of a body, unless the request was refused."""
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop the timer: the request has arrived, and from here on the server is what takes time."""
        self._is_receiving, self._has_completed = False, True
        self._stop_timer()
        if not self.transport.is_closing():
            super().on_message_complete()

    def _count_head(self, more: int) -> None:
        self._head_bytes += more
        if self._head_bytes > MOST_HEAD:
            self._refuse(431, f"the head of a request may have at most {MOST_HEAD:,} bytes")

    # ---------------------------------------------------------------- an answer

    def on_response_complete(self) -> None:
        """Time how long the rest of a written answer waits for the client to read it."""
        self.idle_since = self.loop.time()
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self._start_timer(self.transport.abort)

    def pause_writing(self) -> None:
        """Time a client that reads too slowly."""
        super().pause_writing()
        self._start_timer(self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer: the client reads again."""
        super().resume_writing()
        self._stop_timer()

    # ---------------------------------------------------------------- bounds

    def _time_request(self) -> None:
        self._is_receiving = True
        self._start_timer(self._end_late)

    def _end_late(self) -> None:
        """End a connection whose request did not arrive in full."""
        if self._current_cycle is not None and self._current_cycle.response_started:
            self.transport.abort()
        else:
            self._refuse(408, f"the request did not arrive in full within {REQUEST_SECONDS:.0f} s")

    def _start_timer(self, end: Any) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(REQUEST_SECONDS, end)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int, error: str) -> None:
        """Answer with the reason and close, without reading the rest of the request."""
        self._stop_timer()
        body = json.dumps({"error": error, "kind": "Refused", "exit_code": USAGE}).encode()
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.close()
