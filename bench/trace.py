"""Measures the traces of refreshes in a repository: git locks, objects and fetches, with an index whose stat data is stale."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.report import Row
from bench.scene import Scene
from traces import bait, make_stale, traces

SERVED, ALONE = 1_000, 20


def rows(_runs: int) -> Iterator[Row]:
    """Measure refreshes by a server that composes each anew, then by commands that compose without a server."""
    with Scene(notices=1, files=20) as scene:
        bait(scene)
        plain = _left(scene, 1, lambda: scene.git("status"))
        scene.serve()
        served = _left(scene, SERVED, scene.recompose)
        scene.stop()
        alone = _left(scene, ALONE, lambda: scene.majordomus("brief"))
    beside = f"a plain `git status` leaves {plain}"
    for work, count in (
        (f"{SERVED:,} refreshes by a server, each composed anew", served),
        (f"{ALONE} refreshes by commands, no server", alone),
    ):
        yield Row(f"git locks, objects, fetches in {work}", f"{count}", beside, "0", count == 0)


def _left(scene: Scene, times: int, refresh: Callable[[], object]) -> int:
    """Count the traces that this many refreshes leave, each on an index that was made stale first."""
    with traces(scene) as left:
        for number in range(times):
            make_stale(scene, number)
            refresh()
    return len(left)
