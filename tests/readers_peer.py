"""Cases for the reader of the uid at the other end of a socket."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path
from typing import Any

import pytest

from brief.fastpath.ask import peer_uid
from reader_case import ReaderCase


def _connected(_: Path, __: pytest.MonkeyPatch) -> Any:
    """Both ends of the pair belong to this process."""
    here, there = socket.socketpair(socket.AF_UNIX)
    with here, there:
        return peer_uid(here)


def _alone(_: Path, __: pytest.MonkeyPatch) -> Any:
    with socket.socket(socket.AF_UNIX) as unconnected:
        return peer_uid(unconnected)


def _closed(_: Path, __: pytest.MonkeyPatch) -> Any:
    """The kernel says nothing about a closed descriptor."""
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as closed:
        closed.close()
        return peer_uid(closed)


CASES = {
    "fastpath.ask.peer_uid": ReaderCase(present=_connected, absent=_alone, unreadable=_closed),
}
