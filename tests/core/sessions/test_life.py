from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from brief.core.model.brief import EpisodeState, Liveness
from brief.core.sessions.episode import Episode, KnownEpisode, Process
from brief.core.sessions.life import SILENT_AFTER, Life, ending, in_order, is_silent

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=1)
WAS = Process(pid=7, start=100, boot="b1")


def episode(**told: object) -> Episode:
    """An open episode of /r."""
    fields = {"id": "a", "provider": "claude-code", "checkout": "/r", "branch": None, "process": WAS, "state": "idle"}
    return Episode.model_validate({**fields, "since": NOW, "heard": NOW, **told})


@pytest.mark.parametrize(
    ("heard", "watched", "silent"),
    [
        (NOW - SILENT_AFTER, LONG_AGO, False),
        (NOW - SILENT_AFTER - timedelta(seconds=1), LONG_AGO, True),
        (LONG_AGO, NOW - timedelta(seconds=30), False),
        (LONG_AGO, NOW - SILENT_AFTER - timedelta(seconds=1), True),
        (NOW + timedelta(days=1), LONG_AGO, True),
        (NOW + timedelta(seconds=5), LONG_AGO, False),
    ],
)
def test_silent_after_three_looks(heard: datetime, watched: datetime, silent: bool) -> None:
    """Silent is who was not heard for three looks that somebody was there for, whichever way a clock was moved."""
    assert is_silent(heard, watched, NOW) is silent


@pytest.mark.parametrize(
    ("process", "listed", "reason"),
    [
        (Life.ALIVE, {"/r": True}, None),
        (Life.UNKNOWN, None, None),
        (Life.ALIVE, None, None),
        (Life.GONE, None, "its process ended"),
        (Life.ALIVE, {"/r": False}, "gone: the folder of its checkout is missing"),
        (Life.ALIVE, {"/r2": True}, "gone: git lists its checkout no more"),
        (Life.ALIVE, {}, "gone: git lists its checkout no more"),
    ],
)
def test_ending(process: Life, listed: dict[str, bool] | None, reason: str | None) -> None:
    """An episode ends with its process or its checkout, and never because nothing could be asked."""
    assert ending(episode(), process, listed) == reason


def test_episode_without_process() -> None:
    """An episode that named no process lives until it is closed or its checkout is gone."""
    assert ending(episode(process=None), Life.UNKNOWN, {"/r": True}) is None


def test_waiting_comes_first() -> None:
    """Whoever waits for a human is first in the list, then the longest open; a state that is not known is none."""

    def known(name: str, state: EpisodeState, minutes: int, standing: Liveness = "heard") -> KnownEpisode:
        told = episode(id=name, state=state, since=NOW + timedelta(minutes=minutes))
        return KnownEpisode(episode=told, standing=standing)

    listed = in_order(
        [
            known("busy", EpisodeState.BUSY, 1),
            known("late", EpisodeState.WAITING, 9),
            known("stale", EpisodeState.WAITING, 0, "silent"),
            known("early", EpisodeState.WAITING, 8),
        ]
    )
    assert [one.episode.id for one in listed] == ["early", "late", "stale", "busy"]
