"""What a person sees: answers on standard output, faults on standard error, nothing that steers a terminal."""

from __future__ import annotations

import sys

from brief.core.errors import MajordomusError
from brief.core.text.sanitize import clean


def say(text: str) -> None:
    """Print an answer in UTF-8, whatever the locale."""
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def complain(fault: MajordomusError) -> int:
    """Print a fault, a line for each of its lines, and give the exit code that it means."""
    for line in fault.sentence.splitlines() or [type(fault).__name__]:
        sys.stderr.write(f"majordomus: {clean(line, 2_000)}\n")
    return fault.exit_code
