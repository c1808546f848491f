"""How the whole suite runs: which files come first, which signals reach children, and the last line."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from types import FrameType

import pytest

TESTS = Path(__file__).resolve().parent
_WAITING = 2
"""Processes per processor. A test spends about half of its time waiting for a server, a lock or a silence."""

_BUSY = ("server", "cli", "doctor", "install")
"""The folders whose tests start the most processes. They begin first, since what takes long must not begin last."""

_begun = pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    """Give children the signals that whoever started the run in the background ignores, and go on ignoring them.

    A signal that is ignored is inherited by what is executed, and one that has a handler is not.
    """
    config.stash[_begun] = time.monotonic()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _ignore)


def _ignore(number: int, frame: FrameType | None) -> None:
    """Do nothing."""


def pytest_xdist_auto_num_workers() -> int:
    """The number of processes that `-n auto` means."""
    return _WAITING * (os.cpu_count() or 1)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the slowest files first: files are handed out in this order, each to one process."""
    for item in items:
        if TESTS / "live" in item.path.parents:
            item.add_marker("live")
    if config.getoption("numprocesses", None):
        items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    folder = os.path.relpath(item.path, TESTS).split(os.sep)[0]
    if item.get_closest_marker("live"):
        return 0
    return 1 if folder.endswith(".py") else 2 if folder in _BUSY else 3


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """End the run with its time and a line that a machine can read."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or config.getoption("collectonly") or hasattr(config, "workerinput"):
        return
    counts = {kind: len(found) for kind, found in reporter.stats.items()}
    failed = sum(counts.get(kind, 0) for kind in ("failed", "error"))
    skipped = sum(counts.get(kind, 0) for kind in ("skipped", "xfailed"))
    used = os.times()
    cpu = used.user + used.system + used.children_user + used.children_system
    reporter.write_line(f"{time.monotonic() - config.stash[_begun]:.0f} s, {cpu:.0f} s of processor time")
    reporter.write_line(
        f"{counts.get('passed', 0)} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")
    )
