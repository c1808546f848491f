"""Text for a terminal of a given width, broken between words: nothing is lost, and what belongs together stays in sight."""

from __future__ import annotations

from brief.core.text.line import cells

LEAST_COLUMNS = 40
"""In fewer columns the indent leaves no room for words, and the terminal may break the lines itself."""

_DEEPER = 2


def wrapped(text: str, columns: int) -> str:
    """Every line of `text` in at most `columns` cells where its words allow, what follows of one indented below it."""
    if columns < LEAST_COLUMNS:
        return text
    return "".join(f"{piece}\n" for line in text.splitlines() for piece in _pieces(line, columns))


def _pieces(line: str, columns: int) -> list[str]:
    if cells(line) <= columns:
        return [line]
    from wcwidth import wrap  # noqa: PLC0415 - slow to load, and most lines fit

    indent = " " * (len(line) - len(line.lstrip()) + _DEEPER)
    # A path or an id is copied as a whole, so no word is broken.
    return wrap(
        line,
        columns,
        subsequent_indent=indent,
        control_codes="ignore",
        break_long_words=False,
        break_on_hyphens=False,
    )
