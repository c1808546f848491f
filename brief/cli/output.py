"""What a person sees: answers on standard output, faults on standard error, nothing that steers a terminal."""

from __future__ import annotations

from brief.core.model.errors import MajordomusError
from brief.core.text.sanitize import clean
from brief.core.text.wrap import wrapped
from brief.fastpath.main import terminal_columns
from brief.fastpath.output import put, tell


def say(text: str) -> None:
    """Print an answer in UTF-8, whatever the locale."""
    put(text.encode("utf-8", "backslashreplace"))


def paged(text: str) -> str:
    """The text for a person; a terminal would break its lines in the midst of words."""
    columns = terminal_columns()
    return text if columns is None else wrapped(text, columns)


def complain(fault: MajordomusError) -> int:
    """Print a fault, a line for each of its lines, and give the exit code that it means."""
    for line in fault.sentence.splitlines() or [type(fault).__name__]:
        tell(clean(line, 2_000))
    return fault.exit_code
