"""Run real processes against one thing at the same moment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from sandbox import SOURCE

_FORKS = """
import json, os, sys
names = {}
exec(sys.argv[2], names)
begun, begin = os.pipe()
outcomes = []
for number in range(int(sys.argv[1])):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(begin)
        os.read(begun, 1)
        os.write(writing, json.dumps(names["work"](number, *sys.argv[3:])).encode())
        os._exit(0)
    os.close(writing)
    outcomes.append(reading)
os.close(begin)
told = [open(reading, "rb").read() for reading in outcomes]
ended = [os.wait()[1] for _ in outcomes]
print(json.dumps([json.loads(each) for each in told]))
sys.exit(any(ended))
"""


def race(workers: int, work: str, *args: str) -> list[Any]:
    """Run `work(number, *args)`, which the code `work` defines, in this many processes at once. Returns their results."""
    done = subprocess.run(
        [sys.executable, "-c", _FORKS, str(workers), work, *args],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outcomes: list[Any] = json.loads(done.stdout)
    return outcomes
