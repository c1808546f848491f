"""Folders reached step by step from one that is trusted, so that no link on the way leads out of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from brief.core.model.errors import USAGE, MajordomusError

_ANY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class LinkInTheWayError(MajordomusError):
    """A link stands where a folder was expected, and is not followed."""

    exit_code = USAGE
    http_status = 400


@contextmanager
def opened(base: Path, steps: Sequence[str], *, make: bool) -> Iterator[int]:
    """A descriptor of the folder `steps` below `base`; each step is a real folder, made where it is missing and `make`.

    Raises LinkInTheWayError, and OSError: FileNotFoundError where a step is missing and not made.
    """
    here = base
    descriptor = os.open(base, _ANY)
    try:
        for name in steps:
            here /= name
            inner = _step(descriptor, name, here, make=make)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _step(parent: int, name: str, here: Path, *, make: bool) -> int:
    if here.is_symlink():
        raise LinkInTheWayError(
            f"{here}: a link is in the way and is not followed; make it a folder, then run this again"
        )
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
    return os.open(name, _ANY | os.O_NOFOLLOW, dir_fd=parent)
