"""`majordomus brief` where no server runs: the whole command starts and composes by itself."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from bench.report import Row, ms
from bench.scene import COMMAND, Scene
from bench.spawning import Setting, interleaved

BARE = "python -c pass"


def rows(runs: int) -> Iterator[Row]:
    """One row, for information."""
    commands = {"brief": [COMMAND, "brief"], BARE: [sys.executable, "-c", "pass"]}
    with Scene(worktrees=3, notices=5) as scene, contextlib.chdir(scene.repo):
        spent = interleaved(commands, Setting(scene.env), max(3, runs // 4))
    own, bare = spent["brief"].wall, spent[BARE].wall
    yield Row("`majordomus brief`, no server", ms(own), f"{own / bare:.0f}x `{BARE}` ({ms(bare)})")
