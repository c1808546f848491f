"""Read the JSON object that a client writes to standard input, and ignore whatever in it is unusable."""

from __future__ import annotations

import os
import select
import sys
import time

from brief.fastpath.jsontext import read_json
from brief.fastpath.locate import current_folder

STDIN_SECONDS = 0.3
MOST_SESSION = 128


def read_stdin(most: int) -> dict[str, object]:
    """The JSON object in the first `most` bytes that arrive in time. Empty if those bytes are not a JSON object."""
    try:
        given = read_json(_standard_input(most))
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _standard_input(most: int) -> bytes:
    """The bytes that the client wrote in time. A terminal is never read, and an idle pipe is not waited for."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return b""
    descriptor = sys.stdin.fileno()
    deadline = time.monotonic() + STDIN_SECONDS
    received: list[bytes] = []
    size = 0
    while size < most:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        piece = _piece(descriptor) if ready else b""
        if not piece:
            break
        received.append(piece)
        size += len(piece)
    return b"".join(received)


def _piece(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # open, but not for reading
        return b""


def text_of(value: object) -> str | None:
    """The value if it is usable as a name: non-empty text without NUL. Otherwise None."""
    return value if isinstance(value, str) and value and "\0" not in value else None


def folder_of(value: object) -> str:
    """The folder that `value` names, else the current folder. Raises NotLocatedError if that was removed."""
    named = text_of(value)
    return named if named and os.path.isdir(named) else current_folder()


def session_of(value: object) -> str | None:
    """The value if an episode can have it as its session id. Otherwise None."""
    named = text_of(value)
    return named if named and named.isprintable() and len(named) <= MOST_SESSION else None
