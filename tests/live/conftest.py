from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from claude import settle_in
from messages import Messages
from sandbox import Lab
from serving import write_policy

MINUTE = {"MAJORDOMUS_TEST_MINUTE_SECONDS": "0.5"}
"""Shortens a minute of the schedule to half a second. The server takes it only from the environment."""

ON = "session:\n  brief_on_interval: true\n  brief_interval_minutes: 12\n"


@pytest.fixture
def messages() -> Iterator[Messages]:
    """The stub that answers the client."""
    with Messages() as stub:
        yield stub


@pytest.fixture
def house() -> Iterator[Lab]:
    """A repository with a second worktree, a policy that wakes every 6 seconds of the test, and the mod installed."""
    with Lab() as lab:
        lab.env |= MINUTE
        write_policy(lab, ON)
        lab.commit()
        lab.worktree("other")
        settle_in(lab, lab.repo, lab.base / "other")
        done = lab.majordomus("capture", "install")
        assert "written" in done.stdout, done.stderr
        assert lab.majordomus("serve", "ensure").returncode == 0
        yield lab


@pytest.fixture
def other(house: Lab) -> Path:
    """The second worktree."""
    return house.base / "other"
