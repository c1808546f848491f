"""Fit a brief as a prompt into limited room. Rows are dropped first, then lines from the end; it is always closed."""

from __future__ import annotations

from collections.abc import Callable

from brief.core.model.brief import Brief
from brief.core.text.budget import fit_budget
from brief.core.text.prompt import render_prompt


def fit_prompt(brief: Brief, room: int, measure: Callable[[str], int]) -> str:
    """The brief with as many rows as fit into `room` by `measure`, or if it is too long without rows, its first lines.

    `measure` never gives more than the bytes of a text.
    """
    return shorten(render_prompt(fit_budget(brief, room, render_prompt)), room, measure)


def shorten(text: str, room: int, measure: Callable[[str], int]) -> str:
    """The text of a prompt, or as many of its first lines as fit and a line that counts the rest."""
    if measure(text) <= room:
        return text
    first, *lines, end = text.splitlines()
    whole = len(lines)
    while lines and measure(_join_lines(first, lines, whole, end)) > room:
        lines.pop()
    return _join_lines(first, lines, whole, end)


def _join_lines(first: str, lines: list[str], whole: int, end: str) -> str:
    left_out = f"- left out: {whole - len(lines)} lines; see majordomus brief"
    return "".join(f"{line}\n" for line in (first, *lines, left_out, end))
