"""Programs from npm, each pinned by who asks, kept in a cache of the tests."""

from __future__ import annotations

import fcntl
import os
import shlex
import subprocess
from functools import cache
from pathlib import Path

# Looked up at once: a test may have a home of its own, and the client has 400 MB.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "majordomus-test")


@cache
def program(package: str, version: str, name: str) -> str:
    """A program, installed with the first call; AssertionError with the line that installs it where npm fails."""
    folder = _CACHE / f"{package.rpartition('/')[2]}-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    found = folder / "node_modules/.bin" / name
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            _install(found, ["--prefix", str(folder), f"{package}@{version}"])
    return str(found)


def _install(found: Path, words: list[str]) -> None:
    argv = ["npm", "install", "--no-audit", "--no-fund", *words]
    try:
        said = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300).stderr
    except (OSError, subprocess.SubprocessError) as fault:
        said = str(fault)
    assert found.exists(), f"the tests need {found.name}; install it with: {shlex.join(argv)}\n{said[-400:]}"
