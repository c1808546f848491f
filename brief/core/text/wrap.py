"""Wrap text for a terminal of a given width. Lines break only between words, so nothing is lost."""

from __future__ import annotations

from brief.core.text.line import count_cells

LEAST_COLUMNS = 40
"""Below this width the indentation leaves no room for words, and the terminal wraps the lines itself."""

_DEEPER = 2


def wrap_text(text: str, columns: int) -> str:
    """Wrap every line of `text` at `columns` cells, if its words allow, with its continuation indented."""
    if columns < LEAST_COLUMNS:
        return text
    return "".join(f"{piece}\n" for line in text.splitlines() for piece in _wrap_line(line, columns))


def _wrap_line(line: str, columns: int) -> list[str]:
    if count_cells(line) <= columns:
        return [line]
    from wcwidth import wrap  # noqa: PLC0415 - slow to load, and most lines fit

    indent = " " * (len(line) - len(line.lstrip()) + _DEEPER)
    # People copy paths and ids, so words are never broken.
    return wrap(
        line,
        columns,
        subsequent_indent=indent,
        control_codes="ignore",
        break_long_words=False,
        break_on_hyphens=False,
    )
