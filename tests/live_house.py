"""What the live tests do to the house beside the client."""

from __future__ import annotations

import uuid
from pathlib import Path

from sandbox import Lab


def place_lock(house: Lab, folder: Path) -> None:
    """Let a session in another worktree hold koda."""
    done = house.majordomus("lock", "place", "koda", "--session", str(uuid.uuid4()), cwd=folder)
    assert done.returncode == 0, done.stderr
