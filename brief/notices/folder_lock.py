"""One writer of a folder of notices at a time, and what the system refuses, told as a sentence."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from brief.core.model.errors import GaveUpError, MajordomusError
from brief.core.text.sanitize import wire
from brief.support.files import reason_of

_WAIT_S = 5.0
_PAUSE_S = 0.005


class NoticeError(MajordomusError):
    """A notice cannot be written, moved or marked, and why."""


@contextmanager
def turn(folder: str, wait_s: float = _WAIT_S) -> Iterator[None]:
    """Hold the folder, made if need be, against all other writers; the kernel lets go however the process ends.

    The lock is on the folder itself, so that no file of ours lies in a tracked one. Raises NoticeError, and
    GaveUpError after `wait_s` seconds.
    """
    with told(folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        hold(descriptor, folder, wait_s)
        yield
    finally:
        os.close(descriptor)


def hold(descriptor: int, path: str, wait_s: float = _WAIT_S) -> None:
    """Lock an open file or folder until it is closed; raises NoticeError, GaveUpError."""
    end = time.monotonic() + wait_s
    while True:
        try:
            with told(path, BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                raise GaveUpError(
                    f"another process has held {wire(path)} for {wait_s:.3g} s; see which one, and try again"
                ) from None
        time.sleep(_PAUSE_S)


@contextmanager
def told(path: str, *but: type[OSError]) -> Iterator[None]:
    """Tell what the system says against `path` as NoticeError, `but` for what the caller decides upon."""
    try:
        yield
    except but:
        raise
    except (OSError, ValueError) as error:
        raise NoticeError(f"{wire(path)} cannot be written: {reason_of(error)}; nothing was changed") from error
