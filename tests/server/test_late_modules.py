from __future__ import annotations

import subprocess
import sys

LATE = """
import asyncio, sys
from brief.server import app, late_modules
before = {*sys.modules}
late_modules.LATE_SECONDS = 0.0
asyncio.run(late_modules.load_rest())
print(*sorted({*sys.modules} - before))
"""


def test_a_server_loads_the_rest_after_its_start() -> None:
    """The readers of the sections, and what reads and measures text, are loaded later, and before they are needed."""
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)
    assert {"brief.sections.state", "brief.sections.peers", "yaml", "wcwidth"} <= set(done.stdout.split())
