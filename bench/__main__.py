"""`python -m bench`: measure, and print a Markdown table as it grows."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator

from bench import alerts, alone, calls, heartbeats, lines, neighbours, served, serving, trace
from bench.report import Row, heading, line, machine

GROUPS: dict[str, Callable[[int], Iterator[Row]]] = {
    "lines": lines.rows,
    "served": served.rows,
    "alone": alone.rows,
    "alerts": alerts.rows,
    "calls": calls.rows,
    "gather": calls.gather,
    "neighbours": neighbours.rows,
    "crowd": calls.crowd,
    "heartbeats": heartbeats.rows,
    "server": serving.rows,
    "trace": trace.rows,
}


def main() -> int:
    """Measure the requested groups; exit 0 whatever the results."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures what majordomus costs.")
    parser.add_argument(
        "--only", action="append", choices=[*GROUPS], metavar="NAME", help="one of " + ", ".join(GROUPS)
    )
    parser.add_argument("--runs", type=int, default=30, metavar="N", help="runs of each command (30)")
    args = parser.parse_args()
    if args.runs < 1:
        parser.error("--runs is at least 1")
    print(f"{machine()}\n\n{heading()}")
    for name in args.only or GROUPS:
        for row in GROUPS[name](args.runs):
            print(line(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
