"""Folders opened component by component from a trusted one, so that no link on the way leads out of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from brief.core.model.errors import USAGE, MajordomusError

_ANY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class LinkInTheWayError(MajordomusError):
    """There is a link where a folder was expected. Links are not followed."""

    exit_code = USAGE
    http_status = 400


@contextmanager
def open_below(base: Path, steps: Sequence[str], *, make: bool) -> Iterator[int]:
    """Open the folder `steps` below `base` without following links, and yield its descriptor.

    With `make`, missing folders are created. Raises LinkInTheWayError, and OSError: FileNotFoundError if a folder is
    missing and not to be created.
    """
    here = base
    descriptor = os.open(base, _ANY)
    try:
        for name in steps:
            here /= name
            inner = _open_step(descriptor, name, here, make=make)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _open_step(parent: int, name: str, here: Path, *, make: bool) -> int:
    if here.is_symlink():
        raise LinkInTheWayError(
            f"{here}: a link is in the way and is not followed; replace it with a folder and try again"
        )
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
    return os.open(name, _ANY | os.O_NOFOLLOW, dir_fd=parent)
