"""Measures notices: reading their folder, the block in a prompt, and the hook that delivers it."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from bench.report import Row, ms
from bench.scene import COMMAND, SESSION, Scene
from bench.spawning import Setting, interleaved
from brief.core.notices.alerts_block import body_of, line_of, render_block
from brief.core.notices.notice import parse
from brief.core.notices.visibility import Shown, decide_visibility, order_shown
from brief.core.policy.settings import Settings
from brief.notices.store import NoticeStore

COLD_MS, WARM_MS = 25.0, 2.0
MUST_OF_SCAN = 2.0
MUST_OF_BARE = 3.0
MUST_OF_BODIES = 0.27
HOOK = "hook user-prompt-submit"
BARE = "python -c pass"

REALISTIC = {"lock": 2, "bug-dep": 2, "reminder": 6, "alert": 12, "courtesy": 8}
"""Thirty notices, as sessions leave them in a day."""


def rows(runs: int) -> Iterator[Row]:
    """Measure reading a folder, the size of a block, and the hook."""
    yield from _reading(200, runs)
    yield from _reading(10_000, max(3, runs // 6))
    yield _size_of_block()
    for count in (0, 30, 200):
        yield _hook(count, runs)


def _reading(count: int, runs: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="mj") as folder:
        active = Path(folder, "active")
        active.mkdir()
        for number in range(count):
            path = active / f"notice-{number}.md"
            path.write_text(_text(("alert", "lock", "courtesy")[number % 3], number))
        time.sleep(0.1)  # a file that was written a moment ago is read anew, since its stamp cannot be trusted yet
        store = NoticeStore([folder])
        scan, cold = _median(lambda: _scanned(active), runs), _median(lambda: NoticeStore([folder]).read(), 3)
        store.read()
        warm = _median(store.read, runs)
    beside = f"{warm / scan:.2f}x one scandir with stats ({ms(scan)})"
    if count == 200:
        yield Row(f"{count} notices read and parsed", ms(cold), "", ms(COLD_MS), cold <= COLD_MS)
        yield Row(f"{count} notices, unchanged", ms(warm), beside, ms(WARM_MS), warm <= WARM_MS)
        return
    yield Row(f"{count:,} notices read and parsed", ms(cold))
    yield Row(f"{count:,} notices, unchanged", ms(warm), beside, f"{MUST_OF_SCAN:g}x", warm <= MUST_OF_SCAN * scan)


def _scanned(folder: Path) -> list[os.stat_result]:
    with os.scandir(folder) as entries:
        return [entry.stat() for entry in entries]


def _median(work: Callable[[], object], runs: int) -> float:
    spent = []
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        spent.append((time.perf_counter() - begun) * 1000)
    return statistics.median(spent)


def _size_of_block() -> Row:
    """Compare the block of thirty notices with the same notices shown with six body lines each."""
    shown = _shown()
    told = len(render_block(shown, Settings().alerts.block_characters).encode())
    in_full = sum(len("\n".join([line_of(each), *body_of(each), ""]).encode()) for each in shown)
    work = f"alerts block of {len(shown)} notices ({', '.join(f'{count} {kind}' for kind, count in REALISTIC.items())})"
    beside = f"{told / in_full:.0%} of six body lines each ({in_full:,} bytes)"
    return Row(work, f"{told:,} bytes", beside, f"{MUST_OF_BODIES:.0%}", told <= MUST_OF_BODIES * in_full)


def _shown() -> list[Shown]:
    numbered = enumerate(kind for kind, count in REALISTIC.items() for _ in range(count))
    now = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
    verdicts = [
        decide_visibility(parse(_text(kind, number), f"{kind}-{number}"), now, ZoneInfo("UTC"))
        for number, kind in numbered
    ]
    return sorted((verdict for verdict in verdicts if isinstance(verdict, Shown)), key=order_shown)


def _hook(count: int, runs: int) -> Row:
    """Measure the hook of a prompt with a running server and this many notices."""
    with Scene(notices=count) as scene:
        scene.serve()
        setting = Setting(scene.env, str(scene.status_json()))
        spent = interleaved({HOOK: [COMMAND, *HOOK.split()], BARE: [sys.executable, "-c", "pass"]}, setting, runs)
    own, bare = spent[HOOK].wall, spent[BARE].wall
    beside = f"{own / bare:.2f}x `{BARE}` ({ms(bare)})"
    return Row(
        f"`majordomus {HOOK}`, {count} notices", ms(own), beside, f"{MUST_OF_BARE:g}x", own <= MUST_OF_BARE * bare
    )


def _text(kind: str, number: int) -> str:
    body = "\n".join(
        f"Sentence {each} of a notice as sessions write them to each other, with reasons and names."
        for each in range(6)
    )
    return (
        f"---\nkind: {kind}\ncomponent: koda\ncreated: 2026-01-01\nsession_id: {SESSION}\n---\n"
        f"# What the others have to know about part {number}\n{body}\n"
    )
