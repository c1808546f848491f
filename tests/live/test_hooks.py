from __future__ import annotations

import json
from pathlib import Path

from claude import Session, settle_in
from lab import Lab, until
from live_house import place_lock
from messages import Messages


def test_the_printed_settings_carry_brief_and_line(house: Lab, messages: Messages, other: Path) -> None:
    """Without the mod, the printed settings alone bring the brief and the lock to the model, and the line to the screen."""
    house.majordomus("capture", "remove")
    settings = json.loads(house.majordomus("capture", "install", "--carrier", "hooks").stdout)
    settle_in(house, house.repo, **settings)
    place_lock(house, other)
    with Session(house, messages, house.repo) as session:
        session.shows("derive free")
        session.say("hello")
        until(lambda: messages.bodies, 30)
        told = json.dumps(messages.bodies[0])
        assert "SessionStart hook additional context" in told
        assert "koda" in told
        assert "derive" in told
