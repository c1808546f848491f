"""Measures a thousand sessions with mods: the cost of a heartbeat, and how late wakes enter the outboxes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.client import Client, post
from bench.report import Row, ms
from bench.scene import Scene, session_id, write_policy
from brief.fastpath.ask import ask
from brief.support.schedule_clock import MINUTE_OF_TESTS
from serving import install_for_project

SESSIONS = 1_000
HEARTBEAT_MS, HEARTBEAT_P99_MS = 2.0, 10.0
LATE_SECONDS = 1.0
MINUTE_SECONDS = 10
INTERVAL_MINUTES = 6
INTERVAL = timedelta(seconds=MINUTE_SECONDS * INTERVAL_MINUTES)
LOOKS_A_MINUTE = 6
PATIENCE_SECONDS = 300.0

OFF = f"version: 1\nsession:\n  brief_interval_minutes: {INTERVAL_MINUTES}\n"
ON = f"{OFF}  brief_on_interval: true\n"
DAILY = "version: 1\nsession:\n  brief_interval_minutes: 1440\n  brief_on_interval: true\n"
FULL = "from brief.sessions.database import Database; Database._set_durable = lambda self, durable: None"
WORLD = f"{SESSIONS:,} sessions in 20 worktrees, 20 notices"


def rows(runs: int) -> Iterator[Row]:
    """Measure heartbeats while no wake is due, wakes due at the same time, and wakes spread over a minute."""
    yield from _heartbeats(runs)
    yield _changing(runs, "the same, another state each time", "")
    yield _changing(runs, "the same, with synchronous=FULL for every write", FULL)
    yield _wakes("due at the same time", at_once=True)
    yield _wakes("due within a minute", at_once=False)


def _heartbeats(runs: int) -> Iterator[Row]:
    with Scene(worktrees=20, notices=20, policy=DAILY) as scene:
        scene.serve()
        install_for_project(scene)
        requests = _requests(scene)
        with Client(scene.lease["socket"]) as client:
            for request in requests:
                client.ask(request)
            server, before = scene.server, scene.server.cpu_ms()
            spent = [client.ask(requests[number % SESSIONS]) for number in range(max(2, runs // 10) * SESSIONS)]
            cpu = (server.cpu_ms() - before) / len(spent)
        beside = f"{ms(cpu)} CPU of the server each; {WORLD}"
        usual, worst = statistics.median(spent), statistics.quantiles(spent, n=100)[98]
        yield Row(
            "POST /episodes/heartbeat, nothing changed", ms(usual), beside, ms(HEARTBEAT_MS), usual <= HEARTBEAT_MS
        )
        beside = "once a second what all share is read anew"
        must = (ms(HEARTBEAT_P99_MS), worst <= HEARTBEAT_P99_MS)
        yield Row("the same, 99th percentile", ms(worst), beside, *must)


def _changing(runs: int, name: str, patch: str) -> Row:
    """Measure heartbeats that each store a changed state, on a server that ran `patch` first."""
    with Scene(worktrees=20, notices=20, policy=DAILY) as scene, scene.patched(patch):
        idle, busy = _requests(scene), _requests(scene, "busy")
        with Client(scene.lease["socket"]) as client:
            for request in idle:
                client.ask(request)
            rounds = (busy, idle) * max(1, runs // 20)
            spent = [client.ask(request) for requests in rounds for request in requests]
    usual, worst = statistics.median(spent), statistics.quantiles(spent, n=100)[98]
    return Row(name, ms(usual), f"99th percentile {ms(worst)}", ms(HEARTBEAT_MS), usual <= HEARTBEAT_MS)


def _requests(scene: Scene, state: str = "idle") -> list[bytes]:
    """Return the heartbeat request of each session."""
    roots = scene.roots
    return [
        post(
            "/episodes/heartbeat",
            root=str(roots[number % len(roots)]),
            session=session_id(number),
            state=state,
            width=80,
        )
        for number in range(SESSIONS)
    ]


def _wakes(when: str, *, at_once: bool) -> Row:
    """Measure how late all wakes were, from the server's own times: when each was due and when it was queued."""
    with Scene(worktrees=20, notices=20, policy=OFF if at_once else ON) as scene:
        scene.env[MINUTE_OF_TESTS] = str(MINUTE_SECONDS)
        scene.serve()
        install_for_project(scene)
        _begin(scene, seconds=0.0 if at_once else INTERVAL.total_seconds() - MINUTE_SECONDS)
        if at_once:
            time.sleep(2 * MINUTE_SECONDS / LOOKS_A_MINUTE)
            for root in scene.roots:
                write_policy(root, ON)
            time.sleep(2 * MINUTE_SECONDS / LOOKS_A_MINUTE)
        server, before = scene.server, scene.server.cpu_ms()
        due = {one["session"]: datetime.fromisoformat(one["due"]) for one in _wakes_of(scene)}
        late = _late(scene, due)
        cpu = (server.cpu_ms() - before) / SESSIONS
    told = f"{_seconds(late, 50)} s late, p99 {_seconds(late, 99)} s, at most {max(late):.2f} s"
    beside = f"{ms(cpu)} CPU of the server each; {WORLD}"
    met = statistics.quantiles(late, n=100)[98] <= LATE_SECONDS
    return Row(f"{SESSIONS:,} wakes {when}, median", told, beside, f"p99 {LATE_SECONDS:.0f} s", met)


def _begin(scene: Scene, seconds: float) -> None:
    """Send the first heartbeat of every session, spread over this many seconds."""
    begun = time.monotonic()
    with Client(scene.lease["socket"]) as client:
        for number, request in enumerate(_requests(scene)):
            time.sleep(max(0.0, begun + seconds * number / SESSIONS - time.monotonic()))
            client.ask(request)


def _late(scene: Scene, due: dict[str, datetime]) -> list[float]:
    """Return, for each session, the seconds from when its first wake was due to when it was queued."""
    end = time.monotonic() + PATIENCE_SECONDS
    time.sleep(max(0.0, (max(due.values()) - datetime.now(UTC)).total_seconds()) + LATE_SECONDS)
    while len(queued := _queued(scene)) < len(due):
        if time.monotonic() > end:
            raise RuntimeError(f"{len(queued)} of {len(due)} wakes were queued within {PATIENCE_SECONDS:.0f} s")
        time.sleep(5)
    return [(queued[session] - moment).total_seconds() for session, moment in due.items()]


def _queued(scene: Scene) -> dict[str, datetime]:
    """Return when each session's wake was queued, for the sessions that have one."""
    return {
        one["session"]: datetime.fromisoformat(line["last"])
        for one in _wakes_of(scene)
        for line in one["ledger"]
        if (line["kind"], line["detail"]) == ("wake", "queued")
    }


def _wakes_of(scene: Scene) -> list[dict[str, Any]]:
    answer = ask(scene.common_dir, "GET", "/wakes", [("root", str(scene.repo)), ("counts", "true")], seconds=120)
    sessions: list[dict[str, Any]] = answer.json()["sessions"]
    return sessions


def _seconds(late: Sequence[float], percentile: int) -> str:
    return f"{statistics.quantiles(late, n=100)[percentile - 1]:.2f}"
