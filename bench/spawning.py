"""Processes started, waited for and weighed, several kinds of them in turn so that all see the same machine."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WARM_UP = 2


@dataclass(frozen=True, slots=True)
class Setting:
    """What every process of a comparison is given: its environment, and the file on its standard input."""

    env: Mapping[str, str]
    stdin: str = os.devnull


@dataclass(frozen=True, slots=True)
class Spent:
    """Wall time, and the time of all processors in the process and what it waited for, in milliseconds."""

    wall: float
    cpu: float


def interleaved(commands: Mapping[str, Sequence[str]], setting: Setting, runs: int) -> dict[str, Spent]:
    """The medians of each command, run in turn (ABAB) after warm-ups that do not count."""
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
    """The command started `count` times at once: from the first start to the last end, and the CPU of them all."""
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
    """Wait for a process; the seconds of CPU it took. What failed was not what should be measured."""
    _, status, used = os.wait4(pid, 0)
    if status != 0:
        raise RuntimeError(f"{' '.join(argv)} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime
