"""Print UTF-8 whatever the locale, without terminal control characters, and report faults of the output separately."""

from __future__ import annotations

import errno
import os
import sys

FAILED = 1


class OutputError(OSError):
    """Standard output cannot be written."""


def write_output(data: bytes) -> None:
    """Print the printable part of `data` and flush it. Raises OutputError."""
    try:
        sys.stdout.buffer.write(printable_bytes(data))
        sys.stdout.buffer.flush()
    except OSError as fault:
        raise OutputError(fault.errno, fault.strerror) from None


def printable_bytes(data: bytes) -> bytes:
    r"""Remove terminal control characters, and write a byte that is not UTF-8 as `\xNN`. A JSON document stays valid."""
    return printable_text(data.decode("utf-8", "backslashreplace")).encode()


def printable_text(text: str) -> str:
    """Remove terminal control characters. Most text has none, and then no module is loaded."""
    if text.replace("\n", "").isprintable():
        return text
    from brief.fastpath.sanitize import without_steering  # noqa: PLC0415 - see above

    return without_steering(text)


def print_error_line(sentence: str) -> None:
    """Print one line about a fault to standard error, if it is open."""
    if sys.stderr is not None:
        sys.stderr.write(f"majordomus: {_defuse_tags(printable_text(sentence.replace(chr(10), ' ')))}\n")


def _defuse_tags(sentence: str) -> str:
    """Keep names quoted in a sentence from opening a tag, since a model may read it. Most sentences quote none."""
    if sentence.isascii() and "<" not in sentence and "&" not in sentence:
        return sentence
    from brief.fastpath.sanitize import without_tags  # noqa: PLC0415 - see above

    return without_tags(sentence)


def stop_output(fault: OSError) -> int:
    """Stop printing, say why unless the reader merely went away, and return the exit code."""
    # At its end the interpreter flushes what is left, and needs something that accepts it.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if fault.errno != errno.EPIPE:
        print_error_line(f"standard output cannot be written: {fault.strerror}")
    return FAILED
