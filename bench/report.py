"""Formats results as rows of a Markdown table."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

HEAD = ("work", "measured", "beside it", "must", "")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: the work, its cost, the cost of the same elsewhere, and the limit.

    `met` is None where nothing is demanded, or nothing could be measured.
    """

    work: str
    measured: str
    beside: str = ""
    must: str = ""
    met: bool | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row; the last is the verdict."""
        verdict = {True: "ok", False: "**MISSED**", None: ""}[self.met]
        return self.work, self.measured, self.beside, self.must, verdict


def heading() -> str:
    """Return the head of the table."""
    return f"{_line(HEAD)}\n{_line('---' for _ in HEAD)}"


def line(row: Row) -> str:
    """Return a row of the table."""
    return _line(row.cells())


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def machine() -> str:
    """Describe the machine and the measured programs in one line."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    return f"{os.cpu_count()} cores of {_processor()}, {system}, {python}, {git}; load at the start {load}"


def _processor() -> str:
    """Return the processor's name, or only its architecture if the system does not give the name."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            named = [text.partition(":")[2].strip() for text in file if text.startswith("model name")]
    except OSError:
        named = []
    return named[0] if named else platform.machine()


def ms(value: float) -> str:
    """Format milliseconds with only the significant digits."""
    return f"{value:.2f} ms" if value < 10 else f"{value:,.1f} ms" if value < 100 else f"{value:,.0f} ms"
