"""Measures commands that a running server answers, next to a bare interpreter."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from bench.report import Row, ms
from bench.scene import COMMAND, Scene, session_id
from bench.spawning import Setting, interleaved

BARE = "python -c pass"
COMMANDS = ("peers list", "alerts list", "lock status", "task show", "task set fix-login")
MOST = 2.5
"""The most that a command may take, as a multiple of a bare interpreter."""


def rows(runs: int) -> Iterator[Row]:
    """Return one row for each command, in a repository with 20 sessions and 20 notices."""
    with Scene(worktrees=3, notices=20) as scene, contextlib.chdir(scene.repo):
        scene.serve()
        scene.open_sessions(20)
        scene.env["CLAUDE_CODE_SESSION_ID"] = session_id(0)
        commands = {f"majordomus {words}": [COMMAND, *words.split()] for words in COMMANDS}
        bare = {BARE: [sys.executable, "-c", "pass"]}
        spent = interleaved(commands | bare, Setting(scene.env), runs)
    for name in commands:
        times = spent[name].wall / spent[BARE].wall
        beside = f"{times:.2f}x `{BARE}` ({ms(spent[BARE].wall)})"
        yield Row(f"`{name}`", ms(spent[name].wall), beside, f"{MOST}x", times <= MOST)
