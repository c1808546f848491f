"""Measures the server: the time to its first answer, and its cost while idle."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from bench.report import Row, ms
from bench.scene import Scene, server_argv, wait_for_answer

START_MS = 250.0
IDLE_MB, CROWDED_MB = 50.0, 100.0
SETTLE_SECONDS = 15.0
IDLE_SECONDS, IDLE_PERCENT = 60.0, 0.1
IMPORTS = "import starlette, uvicorn"


def rows(runs: int) -> Iterator[Row]:
    """Measure the start, memory and CPU time of a server with 20 worktrees and 200 notices."""
    with Scene(worktrees=20, notices=200) as scene:
        yield _start(scene, max(3, runs // 6))
        scene.serve()
        for _ in range(20):
            scene.recompose()
        yield _idle(scene, "nobody asks")
        mb = scene.server.rss_mb()
        yield Row("server, memory, idle after 20 briefs", f"{mb:.1f} MB", "", f"{IDLE_MB:.0f} MB", mb <= IDLE_MB)
        scene.open_sessions(20)
        yield _idle(scene, "nobody asks, 20 open episodes")
        scene.open_sessions(1_000)
        for _ in range(20):
            scene.recompose()
        mb = scene.server.rss_mb()
        must = f"{CROWDED_MB:.0f} MB"
        yield Row("server, memory, 1,000 open episodes, 20 briefs", f"{mb:.1f} MB", "", must, mb <= CROWDED_MB)


def _start(scene: Scene, starts: int) -> Row:
    """Measure from process start to the first whole answer, next to the imports that any such server needs."""
    first, cpu, imports = [], [], []
    for _ in range(starts):
        begun = time.perf_counter()
        with subprocess.Popen(server_argv(scene), env=scene.env, cwd="/"):
            wait_for_answer(scene.common_dir)
            first.append((time.perf_counter() - begun) * 1000)
            cpu.append(scene.server.cpu_ms())
            scene.stop()
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", IMPORTS], check=True)
        imports.append((time.perf_counter() - begun) * 1000)
    spent = statistics.median(first)
    beside = f"CPU {ms(statistics.median(cpu))}; {ms(statistics.median(imports))} `python -c '{IMPORTS}'`"
    return Row("server, from its start to the first answer", ms(spent), beside, ms(START_MS), spent <= START_MS)


def _idle(scene: Scene, when: str) -> Row:
    """Measure between two regular checks, ten seconds apart. The first check after the start also tidies up."""
    time.sleep(SETTLE_SECONDS)
    before = scene.server.cpu_ms()
    time.sleep(IDLE_SECONDS)
    percent = (scene.server.cpu_ms() - before) / (IDLE_SECONDS * 10)
    beside = f"{IDLE_SECONDS:.0f} s, in ticks of 10 ms"
    return Row(f"server, CPU, {when}", f"{percent:.2f} %", beside, f"{IDLE_PERCENT} %", percent < IDLE_PERCENT)
