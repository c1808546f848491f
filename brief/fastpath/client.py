"""What a client tells on standard input: one JSON object, of which only what can be used is taken."""

from __future__ import annotations

import os
import select
import sys
import time

from brief.fastpath.jsontext import read_json
from brief.fastpath.locate import current_folder

STDIN_SECONDS = 0.3
MOST_SESSION = 128


def told(most: int) -> dict[str, object]:
    """The object, as far as at most `most` bytes came in time; empty where they are none."""
    try:
        given = read_json(_standard_input(most))
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _standard_input(most: int) -> bytes:
    """What the client wrote, as far as it came in time; a terminal or a pipe that nobody fills is not waited for."""
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
    """The value where it is text that can name something."""
    return value if isinstance(value, str) and value and "\0" not in value else None


def folder_of(value: object) -> str:
    """The folder that was named, else the one this process stands in; raises NotLocatedError where that is gone."""
    named = text_of(value)
    return named if named and os.path.isdir(named) else current_folder()


def session_of(value: object) -> str | None:
    """The id of a session, where it is one that an episode can have."""
    named = text_of(value)
    return named if named and named.isprintable() and len(named) <= MOST_SESSION else None
