"""The status line that ours is compared to: ccstatusline from npm, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

VERSION = "2.2.30"


def ccstatusline() -> str | None:
    """The path of the program, installed at the first call. None if npm is missing or cannot install it."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(caches) / f"majordomus-bench/ccstatusline-{VERSION}"
    program = folder / "node_modules/.bin/ccstatusline"
    if program.exists():
        return str(program)
    folder.mkdir(parents=True, exist_ok=True)
    argv = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), f"ccstatusline@{VERSION}"]
    try:
        subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=120)
    except (OSError, subprocess.SubprocessError):
        return None
    return str(program)
