"""One HTTP connection, bounded: in the size of a request's head, in the time of each step, and in how many there are.

Both listeners, the Unix socket and TCP, serve these. Whoever holds connections open cannot use up memory or descriptors.
"""

from __future__ import annotations

import asyncio
import json
import resource
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from brief.core.model.errors import USAGE

EXTENSION = "majordomus.connection"
"""Under which name of `scope["extensions"]` an application finds the connection of a call."""

MOST_HEAD = 65_536
MOST_CONNECTIONS = 512
REQUEST_SECONDS = 10.0
"""How long a whole request may take to come, and how long a client may read nothing of an answer."""

IDLE_SECONDS = 1.0
"""How long a connection without a request must have been idle to be closed for a new one, where too many are open."""


def most_connections() -> int:
    """How many connections may be open at once: half of the descriptors, so that files can still be opened."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(1, min(MOST_CONNECTIONS, soft // 2))


class Connection(HttpToolsProtocol):
    """A connection as uvicorn serves it, that is refused or closed where it passes a bound.

    `fault` is what the connection was lost with, None while it is open and where it was closed in order; `idle_since` is
    when it was made or its last answer was written, on the loop's clock.
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
        """Take the connection, or refuse it where too many are open and none of them is idle."""
        super().connection_made(transport)
        if len(self.connections) > most_connections() and not self._make_room():
            self._refuse(503, f"{len(self.connections) - 1} connections are open; ask again")
            return
        self._time_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.fault = exc
        self._stop_timer()
        super().connection_lost(exc)

    def _make_room(self) -> bool:
        """Close the connection that has been idle for longest, if there is one."""
        ends = self.loop.time() - IDLE_SECONDS
        others = (cast(Connection, one) for one in self.connections if one is not self)
        idle = [one for one in others if one.is_idle and one.idle_since < ends]
        if not idle:
            return False
        min(idle, key=lambda one: one.idle_since).transport.abort()
        return True

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way; one that has not come in whole is not."""
        return self._answering is None

    @property
    def _answering(self) -> RequestResponseCycle | None:
        """The request that is being answered."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return None if cycle is None or cycle.response_complete else cycle

    # ---------------------------------------------------------------- a request

    def data_received(self, data: bytes) -> None:
        """Take a piece of a request."""
        if self.transport.is_closing():
            return
        if not self._is_receiving:
            self._time_request()
        self._has_completed = False
        super().data_received(data)
        if not self._has_head and not self._has_completed and not self.transport.is_closing():
            self._count_head(len(data))

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self.scope["extensions"] = {EXTENSION: cast(dict[object, object], self)}
        self._is_receiving, self._has_head, self._head_bytes = True, False, 0

    def on_headers_complete(self) -> None:
        """Begin to answer, unless the head was too long."""
        self._has_head = True
        self._count_head(len(self.url) + sum(len(name) + len(value) for name, value in self.headers) - self._head_bytes)
        if not self.transport.is_closing():
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body, unless the request was refused."""
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole: from here on the server is what takes time."""
        self._is_receiving, self._has_completed = False, True
        self._stop_timer()
        if not self.transport.is_closing():
            super().on_message_complete()

    def _count_head(self, more: int) -> None:
        self._head_bytes += more
        if self._head_bytes > MOST_HEAD:
            self._refuse(431, f"the head of a request has at most {MOST_HEAD:,} bytes")

    # ---------------------------------------------------------------- an answer

    def on_response_complete(self) -> None:
        """The answer was written; what of it waits for the client to read does not wait for ever."""
        self.idle_since = self.loop.time()
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self._start_timer(self.transport.abort)

    def pause_writing(self) -> None:
        """The client reads too slowly."""
        super().pause_writing()
        self._start_timer(self.transport.abort)

    def resume_writing(self) -> None:
        """It has read on."""
        super().resume_writing()
        self._stop_timer()

    # ---------------------------------------------------------------- bounds

    def _time_request(self) -> None:
        self._is_receiving = True
        self._start_timer(self._end_late)

    def _end_late(self) -> None:
        """End a connection whose request did not come in whole."""
        if self._answering is not None and self._answering.response_started:
            self.transport.abort()
        else:
            self._refuse(408, f"the request did not come in whole within {REQUEST_SECONDS:.0f} s")

    def _start_timer(self, end: Any) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(REQUEST_SECONDS, end)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int, error: str) -> None:
        """Say why and close; nothing more of the request is read."""
        self._stop_timer()
        body = json.dumps({"error": error, "kind": "Refused", "exit_code": USAGE}).encode()
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.close()
