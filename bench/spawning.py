"""Starts and times processes, alternating between commands so that all meet the same conditions."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WARM_UP = 2


@dataclass(frozen=True, slots=True)
class Setting:
    """The environment and the standard input file of every process in a comparison."""

    env: Mapping[str, str]
    stdin: str = os.devnull


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds of wall time, and of CPU time of the process and the children it waited for."""

    wall: float
    cpu: float


def interleaved(commands: Mapping[str, Sequence[str]], setting: Setting, runs: int) -> dict[str, Spent]:
    """Return the medians of each command, run alternately (ABAB) after uncounted warm-ups."""
    spent: dict[str, list[Spent]] = {name: [] for name in commands}
    for number in range(runs + WARM_UP):
        for name, argv in commands.items():
            one = at_once(argv, setting, 1)
            if number >= WARM_UP:
                spent[name].append(one)
    return {name: median(each) for name, each in spent.items()}


def median(spent: Sequence[Spent]) -> Spent:
    """The medians, each of its own."""
    return Spent(statistics.median(one.wall for one in spent), statistics.median(one.cpu for one in spent))


def at_once(argv: Sequence[str], setting: Setting, count: int) -> Spent:
    """Start the command `count` times at once; return the time from first start to last end, and the total CPU time."""
    begun = time.perf_counter()
    started = [_start(argv, setting) for _ in range(count)]
    cpu = sum(_ended(pid, argv) for pid in started)
    return Spent((time.perf_counter() - begun) * 1000, cpu * 1000)


def _start(argv: Sequence[str], setting: Setting) -> int:
    files = [
        (os.POSIX_SPAWN_OPEN, 0, setting.stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    return os.posix_spawnp(argv[0], [*argv], setting.env, file_actions=files)


def _ended(pid: int, argv: Sequence[str]) -> float:
    """Wait for a process and return its CPU seconds. A failed process is an error, since its time means nothing."""
    _, status, used = os.wait4(pid, 0)
    if status != 0:
        raise RuntimeError(f"{' '.join(argv)} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime
