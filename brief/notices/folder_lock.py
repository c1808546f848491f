"""The lock that lets one process at a time write to a folder of notices, and the error for a write that fails."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from brief.core.model.errors import GaveUpError, MajordomusError
from brief.core.text.sanitize import to_wire
from brief.support.files import reason_of

_WAIT_S = 5.0
_PAUSE_S = 0.005


class NoticeError(MajordomusError):
    """A notice could not be written, moved or marked. The message says why."""


@contextmanager
def lock_folder(folder: str, wait_s: float = _WAIT_S) -> Iterator[None]:
    """Lock a folder against all other writers, and create it if necessary. The kernel releases the lock of a killed process.

    The lock is on the folder itself, so that no lock file lies in a tracked folder. Raises NoticeError, and GaveUpError
    after `wait_s` seconds.
    """
    with as_notice_error(folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        hold(descriptor, folder, wait_s)
        yield
    finally:
        os.close(descriptor)


def hold(descriptor: int, path: str, wait_s: float = _WAIT_S) -> None:
    """Lock an open file or folder until it is closed. Raises NoticeError and GaveUpError."""
    end = time.monotonic() + wait_s
    while True:
        try:
            with as_notice_error(path, BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                raise GaveUpError(
                    f"another process has held {to_wire(path)} for {wait_s:.3g} s; find out which one, and try again"
                ) from None
        time.sleep(_PAUSE_S)


@contextmanager
def as_notice_error(path: str, *but: type[OSError]) -> Iterator[None]:
    """Raise an operating system error about `path` as NoticeError, except those in `but`, which the caller handles."""
    try:
        yield
    except but:
        raise
    except (OSError, ValueError) as error:
        raise NoticeError(f"{to_wire(path)} cannot be written: {reason_of(error)}; nothing was changed") from error
