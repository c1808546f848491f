"""Prints answers to standard output and errors to standard error, without terminal control characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brief.fastpath.main import terminal_columns
from brief.fastpath.output import print_error_line, write_output

if TYPE_CHECKING:
    from brief.core.model.errors import MajordomusError


def print_text(text: str) -> None:
    """Print an answer as UTF-8, whatever the locale."""
    write_output(text.encode("utf-8", "backslashreplace"))


def wrap_for_terminal(text: str) -> str:
    """Wrap text between words for a person, since a terminal would break its lines inside words."""
    columns = terminal_columns()
    if columns is None:
        return text
    from brief.core.text.wrap import wrap_text  # noqa: PLC0415 - only a terminal needs it

    return wrap_text(text, columns)


def print_error(fault: MajordomusError) -> int:
    """Print an error, one line for each of its lines, and return its exit code."""
    from brief.core.text.sanitize import clean  # noqa: PLC0415 - most commands end without a fault

    for line in fault.sentence.splitlines() or [type(fault).__name__]:
        print_error_line(clean(line, 2_000))
    return fault.exit_code
