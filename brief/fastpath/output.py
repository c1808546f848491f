"""What a command prints: bytes in UTF-8 whatever the locale, and a fault of the output told apart from all others."""

from __future__ import annotations

import errno
import os
import sys

FAILED = 1


class OutputError(OSError):
    """What is printed to cannot be written."""


def put(data: bytes) -> None:
    """Print at once; raises OutputError."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as fault:
        raise OutputError(fault.errno, fault.strerror) from None


def tell(sentence: str) -> None:
    """Say on standard error what is wrong, where anybody listens."""
    if sys.stderr is not None:
        sys.stderr.write(f"majordomus: {sentence}\n")


def given_up(fault: OSError) -> int:
    """Print nothing more, and tell why unless the reader just went away; the exit code."""
    # The interpreter writes what is left at its end: it must find something that takes it.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if fault.errno != errno.EPIPE:
        tell(f"standard output cannot be written: {fault.strerror}")
    return FAILED
