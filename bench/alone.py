"""Measures commands without a server: the whole command starts and composes its own answer."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from bench.report import Row, ms
from bench.scene import COMMAND, Scene
from bench.spawning import Setting, interleaved

BARE = "python -c pass"
COMMANDS = ("brief", "task show", "policy show", "--help")
MOST = 12
"""The most that a command may take, as a multiple of a bare interpreter."""


def rows(runs: int) -> Iterator[Row]:
    """Return one row for each command."""
    commands = {f"majordomus {words}": [COMMAND, *words.split()] for words in COMMANDS}
    with Scene(worktrees=3, notices=5) as scene, contextlib.chdir(scene.repo):
        bare = {BARE: [sys.executable, "-c", "pass"]}
        spent = interleaved(commands | bare, Setting(scene.env), max(3, runs // 4))
    for name in commands:
        times = spent[name].wall / spent[BARE].wall
        beside = f"{times:.1f}x `{BARE}` ({ms(spent[BARE].wall)})"
        yield Row(f"`{name}`, no server", ms(spent[name].wall), beside, f"{MOST}x", times <= MOST)
