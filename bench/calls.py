"""Measures GET /brief over the Unix socket: unchanged, composed anew, and a server's first answer."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from urllib.parse import urlencode

from bench.client import median_get, throughput
from bench.report import Row, ms
from bench.scene import Scene

UNCHANGED_MS = 1.2
RATES = {1: 800.0, 4: 1_200.0}
"""Required answers per second, by the number of concurrent clients."""

RECOMPOSED_MS = 8.0
COLD_MS = 150.0
GATHER_MS = 30.0
CROWD_MS = 10.0
WORLD = "20 worktrees, 200 notices"


def rows(runs: int) -> Iterator[Row]:
    """Measure a server with 20 worktrees and 200 notices, whose clients keep their connections open."""
    with Scene(worktrees=20, notices=200) as scene:
        yield _cold(scene, max(3, runs // 6))
        scene.serve()
        path = scene.lease["socket"]
        for form in ("json", "line"):
            target = "/brief?" + urlencode({"root": str(scene.repo), "format": form})
            yield _unchanged(path, target, form, runs)
            yield from (_rate(scene, target, form, clients) for clients in RATES)
            yield _recomposed(scene, path, target, form, runs)


def _cold(scene: Scene, starts: int) -> Row:
    spent = []
    for _ in range(starts):
        scene.serve()
        begun = time.perf_counter()
        scene.ask("/brief")
        spent.append((time.perf_counter() - begun) * 1000)
        scene.stop()
    cold = statistics.median(spent)
    return Row(f"GET /brief, the first of a server ({WORLD})", ms(cold), "", ms(COLD_MS), cold <= COLD_MS)


def _unchanged(path: str, target: str, form: str, runs: int) -> Row:
    spent = median_get(path, target, 40 * runs)
    return Row(f"GET /brief, {form}, nothing changed", ms(spent), WORLD, ms(UNCHANGED_MS), spent <= UNCHANGED_MS)


def _rate(scene: Scene, target: str, form: str, clients: int) -> Row:
    """Measure answers per second, and the server's CPU time per answer, which other load on the machine hardly changes."""
    server, seconds = scene.server, 3.0
    before = server.cpu_ms()
    rate = throughput(scene.lease["socket"], target, clients, seconds)
    cpu = (server.cpu_ms() - before) / (rate * seconds)
    work = f"GET /brief, {form}, {clients} client{'' if clients == 1 else 's'}"
    beside = f"{ms(cpu)} CPU of the server each; composed anew every second"
    return Row(work, f"{rate:,.0f} a second", beside, f"{RATES[clients]:,.0f}", rate >= RATES[clients])


def _recomposed(scene: Scene, path: str, target: str, form: str, runs: int) -> Row:
    spent = median_get(path, target, 4 * runs, lambda _: scene.touch_notice())
    beside = f"{WORLD}; a notice touched before each call"
    return Row(f"GET /brief, {form}, composed anew", ms(spent), beside, ms(RECOMPOSED_MS), spent <= RECOMPOSED_MS)


def gather(runs: int) -> Iterator[Row]:
    """Measure the boards of 118 worktrees with one session each."""
    with Scene(worktrees=118, notices=1, files=5) as scene:
        scene.serve()
        scene.open_sessions(118)
        target = "/brief?" + urlencode({"root": str(scene.repo)})
        path = scene.lease["socket"]
        spent = median_get(path, target, 4 * runs, lambda _: scene.touch_notice())
        asked = median_get(path, target, runs, lambda number: scene.commit(at=number))
    work = "GET /brief, composed anew, 118 worktrees, 118 sessions"
    yield Row(work, ms(spent), "a notice touched before each call", ms(GATHER_MS), spent <= GATHER_MS)
    yield Row(work, ms(asked), "a commit before each call, so git lists the worktrees anew")


def crowd(runs: int) -> Iterator[Row]:
    """Measure the brief of one session among 1,000, on which its heartbeat depends."""
    with Scene(worktrees=20, notices=20) as scene:
        scene.serve()
        session = scene.open_sessions(1_000)[500]
        path = scene.lease["socket"]
        own = {"root": str(scene.repo), "session": session}
        for form in ("json", "line"):
            target = "/brief?" + urlencode({**own, "format": form})
            work = f"GET /brief?session=, {form}, one of 1,000 sessions"
            yield Row(work, ms(median_get(path, target, 10 * runs)), "nothing changed")
            anew = median_get(path, target, runs, lambda _: scene.touch_notice())
            beside = "composed anew: a notice touched before each call"
            yield Row(work, ms(anew), beside, ms(CROWD_MS), anew <= CROWD_MS)
