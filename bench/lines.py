"""Measures the commands of every refresh and prompt with a running server, next to other status lines."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence

from bench.peer import VERSION, ccstatusline
from bench.report import Row, ms
from bench.scene import COMMAND, Scene
from bench.spawning import Setting, Spent, at_once, interleaved, median

AT_ONCE = 9
MUST_OF_PEER = 0.1

LINES = ("brief --line", "statusline")
MUST_OF_BARE = 1.3
OURS = {name: [COMMAND, *name.split()] for name in (*LINES, "hook user-prompt-submit")}
BARE = "python -c pass"
GIT = "git status --porcelain=v2 --branch"
PEER = f"ccstatusline {VERSION}"


def rows(runs: int) -> Iterator[Row]:
    """Measure the commands one at a time, then nine at once, with a running server."""
    with Scene(worktrees=3, notices=5) as scene, contextlib.chdir(scene.repo):
        scene.serve()
        setting = Setting(scene.env, str(scene.status_json()))
        commands = _commands()
        spent = interleaved(commands, setting, runs)
        for name in OURS:
            yield _beside_bare(name, spent)
        for name in LINES:
            yield _beside_peer(name, spent)
        yield Row(f"`{GIT}`", _told(spent[GIT]))
        yield from _nine(scene, commands, setting, max(3, runs // 6))


def _commands() -> dict[str, Sequence[str]]:
    peer = ccstatusline()
    others = {BARE: [sys.executable, "-c", "pass"], GIT: GIT.split()}
    return {**OURS, **others, **({PEER: [peer]} if peer else {})}


def _beside_bare(name: str, spent: Mapping[str, Spent]) -> Row:
    own, bare = spent[name].wall, spent[BARE].wall
    beside = f"{own / bare:.2f}x `{BARE}` ({_told(spent[BARE])})"
    return Row(f"`majordomus {name}`", _told(spent[name]), beside, f"{MUST_OF_BARE:g}x", own <= MUST_OF_BARE * bare)


def _beside_peer(name: str, spent: Mapping[str, Spent]) -> Row:
    own = spent[name]
    if PEER not in spent:
        return Row(f"`majordomus {name}`", _told(own), f"{PEER} could not be installed by npm", "a tenth")
    peer = spent[PEER]
    beside = f"1/{peer.wall / own.wall:.1f} of {PEER} ({_told(peer)})"
    return Row(f"`majordomus {name}`", _told(own), beside, "a tenth", own.wall <= MUST_OF_PEER * peer.wall)


def _told(spent: Spent) -> str:
    return f"{ms(spent.wall)}, CPU {ms(spent.cpu)}"


def _nine(scene: Scene, commands: Mapping[str, Sequence[str]], setting: Setting, rounds: int) -> Iterator[Row]:
    """Measure nine refreshes at once, as from nine sessions, with the server's CPU time beside that of the commands."""
    spent: dict[str, list[Spent]] = {name: [] for name in commands}
    served = dict.fromkeys(OURS, 0.0)
    for _ in range(rounds):
        for name, argv in commands.items():
            before = scene.server.cpu_ms()
            spent[name].append(at_once(argv, setting, AT_ONCE))
            if name in served:
                served[name] += scene.server.cpu_ms() - before
    for name, all_of_it in spent.items():
        one = median(all_of_it)
        server = f"CPU of the server {ms(served[name] / rounds)}" if name in served else ""
        title = f"`majordomus {name}`" if name in OURS else f"`{name}`"
        yield Row(f"{title}, {AT_ONCE} at once", _told(one), server)
