"""uvicorn on sockets that we bound ourselves, ended by an event, and without a timer.

Plain `uvicorn.Server` handles signals and raises them again at its end, so that nothing after it runs, and it wakes up ten times
a second to check whether it should end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from brief.server.connection import Connection

BACKLOG = 2048
GRACE_SECONDS = 2


class WebServer(uvicorn.Server):
    """Serves until `ending` is set. The caller handles signals."""

    def __init__(self, app: ASGIApp, ending: asyncio.Event) -> None:
        super().__init__(
            uvicorn.Config(
                cast(Any, app),
                lifespan="off",
                loop="asyncio",
                http=cast(Any, Connection),
                ws="none",
                log_config=None,
                log_level="warning",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )
        self._ending = ending

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do not handle signals."""
        yield

    async def main_loop(self) -> None:
        """Wait for the end without a timer."""
        await self._ending.wait()


def bind_unix(path: Path) -> socket.socket:
    """A listening Unix socket that only the user can open."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    except BaseException:
        listener.close()
        raise
    finally:
        os.umask(before)
    listener.listen(BACKLOG)
    listener.settimeout(0)
    return listener


def bind_loopback(port: int) -> socket.socket:
    """A listening TCP socket on the loopback address."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
    except BaseException:
        listener.close()
        raise
    listener.listen(BACKLOG)
    listener.settimeout(0)
    return listener
