"""Programs from npm in a cache of the tests. The caller pins each version."""

from __future__ import annotations

import fcntl
import os
import shlex
import subprocess
from functools import cache
from pathlib import Path

# Read at import, since a test may have its own home, and the client has 400 MB.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "majordomus-test")


@cache
def program(package: str, version: str, name: str) -> str:
    """The path of a program, which the first call installs. Raises AssertionError with the command to run if npm fails."""
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
