"""What the live tests do in the repository beside the client."""

from __future__ import annotations

import uuid
from pathlib import Path

from claude import Session
from sandbox import Lab, until


def place_lock(house: Lab, folder: Path) -> None:
    """Let a session in another worktree hold koda."""
    done = house.majordomus("lock", "place", "koda", "--session", str(uuid.uuid4()), cwd=folder)
    assert done.returncode == 0, done.stderr


def heartbeats(session: Session) -> int:
    """How many heartbeats the mod has sent."""
    return session.log.read_text().count("/episodes/heartbeat over")


def beat_on(session: Session, count: int) -> None:
    """Wait for this many more heartbeats. At one a second, twenty of them are three intervals."""
    seen = heartbeats(session)
    until(lambda: heartbeats(session) >= seen + count, 60)
