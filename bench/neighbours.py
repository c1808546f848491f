"""Measures a brief that gathers worktrees and clones, each clone with a real server, and how the cost grows with them."""

from __future__ import annotations

import json
import os
import signal
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from bench.client import Client, get
from bench.report import Row, ms
from bench.scene import Scene

SIZES = ((30, 2), (59, 4), (118, 7))
GATHER_MS = 30.0
SILENT_MS = 300.0
ASKED_ANEW_SECONDS = 1.1
"""Other servers are asked anew only if their last answer is older than this many seconds."""


def rows(runs: int) -> Iterator[Row]:
    """Measure one, two and four times as many, each asked anew, then the most with one silent clone."""
    for worktrees, clones in SIZES:
        with Scene(worktrees=worktrees, notices=1, files=5) as scene:
            scene.serve()
            folders = [_clone(scene, number) for number in range(clones)]
            _settle(scene, clones)
            largest = (worktrees, clones) == SIZES[-1]
            work = f"GET /brief, {worktrees} worktrees and {clones} clones with servers, all asked anew"
            spent = statistics.median(_gathered(scene, max(5, runs // 4)))
            must = (ms(GATHER_MS), spent <= GATHER_MS) if largest else ("", None)
            yield Row(work, ms(spent), "a notice touched before each call", *must)
            if largest:
                yield _one_silent(scene, folders[0])


def _one_silent(scene: Scene, folder: Path) -> Row:
    """Measure the first brief after the server of a clone has stopped. From then on it is remembered as silent."""
    pid = json.loads((folder / ".git/majordomus/lease.json").read_text())["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        spent = _gathered(scene, 1)[0]
    finally:
        os.kill(pid, signal.SIGCONT)
    return Row("the same, the first with one clone silent", ms(spent), "", ms(SILENT_MS), spent <= SILENT_MS)


def _clone(scene: Scene, number: int) -> Path:
    folder = scene.base / f"clone-{number}"
    scene.git("clone", "-q", str(scene.repo), str(folder))
    done = scene.majordomus("serve", "ensure", cwd=folder)
    if done.returncode != 0:
        raise RuntimeError(f"serve ensure in a clone: {done.stderr}")
    return folder


def _settle(scene: Scene, clones: int) -> None:
    """Wait until the brief counts every clone as read."""
    end = time.monotonic() + 30
    while True:
        boards = scene.ask("/peers")["data"]["boards"]
        if sum(board["kind"] == "clone" and board["condition"] == "ready" for board in boards) == clones:
            return
        if time.monotonic() > end:
            raise RuntimeError(f"not all of {clones} clones are told: {boards}")
        time.sleep(0.5)


def _gathered(scene: Scene, count: int) -> list[float]:
    """Return the milliseconds of this many briefs, each of which asks every neighbour anew."""
    request = get("/brief?" + urlencode({"root": str(scene.repo)}))
    spent = []
    with Client(scene.lease["socket"]) as client:
        for _ in range(count):
            time.sleep(ASKED_ANEW_SECONDS)
            scene.touch_notice()
            spent.append(client.ask(request))
    return spent
