"""What a command prints: UTF-8 whatever the locale, nothing that steers a terminal, and a fault of the output by itself."""

from __future__ import annotations

import errno
import os
import sys

FAILED = 1


class OutputError(OSError):
    """What is printed to cannot be written."""


def put(data: bytes) -> None:
    """Print at once, as `printable`; raises OutputError."""
    try:
        sys.stdout.buffer.write(printable(data))
        sys.stdout.buffer.flush()
    except OSError as fault:
        raise OutputError(fault.errno, fault.strerror) from None


def printable(data: bytes) -> bytes:
    r"""The bytes without what steers a terminal; a byte that is no UTF-8 reads `\xNN`. A JSON document stays one."""
    return printable_text(data.decode("utf-8", "backslashreplace")).encode()


def printable_text(text: str) -> str:
    """The text without what steers a terminal. Most text has no such thing, and nothing is loaded for it."""
    if text.replace("\n", "").isprintable():
        return text
    from brief.fastpath.sanitize import without_steering  # noqa: PLC0415 - see above

    return without_steering(text)


def tell(sentence: str) -> None:
    """Say on standard error, in one line, what is wrong, where anybody listens."""
    if sys.stderr is not None:
        sys.stderr.write(f"majordomus: {printable_text(sentence.replace(chr(10), ' '))}\n")


def given_up(fault: OSError) -> int:
    """Print nothing more, and tell why unless the reader just went away; the exit code."""
    # The interpreter writes what is left at its end: it must find something that takes it.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if fault.errno != errno.EPIPE:
        tell(f"standard output cannot be written: {fault.strerror}")
    return FAILED
