from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from brief.core.model.section_data import EpisodeState, Liveness
from brief.core.model.wire import from_plain
from brief.core.sessions.episode import Episode, KnownEpisode, Process
from brief.core.sessions.life import (
    CHECKOUT_REMOVED,
    PROCESS_ENDED,
    SILENT_AFTER,
    UNHEARD,
    Life,
    in_order,
    is_silent,
    session_life,
    why_ended,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=1)
WAS = Process(pid=7, start=100, boot="b1", table="t1")
UNIDENTIFIED = Process(pid=7, start=None, boot="b1", table=None)


def episode(**told: object) -> Episode:
    """An open episode of /r."""
    fields = {"id": "a", "provider": "claude-code", "checkout": "/r", "branch": None, "process": WAS, "state": "idle"}
    return from_plain(Episode, {**fields, "since": NOW, "heard": NOW, **told})


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


@pytest.mark.parametrize("process", Life)
@pytest.mark.parametrize("is_removed", [True, False])
def test_ending(process: Life, is_removed: bool) -> None:
    """An episode ends with its process, or with its checkout where no process of it is known to live."""
    ended = {Life.GONE: PROCESS_ENDED, Life.ALIVE: None, Life.UNKNOWN: CHECKOUT_REMOVED if is_removed else None}
    assert why_ended(episode(), process, NOW, is_removed=is_removed, is_silent=True) == ended[process]


@pytest.mark.parametrize(
    ("process", "days", "is_silent", "reason"),
    [
        (None, 7, True, UNHEARD),
        (UNIDENTIFIED, 7, True, UNHEARD),
        (WAS, 700, True, None),
        (None, 6.9, True, None),
        (None, 700, False, None),
        (None, -700, True, None),
    ],
)
def test_unheard(process: Process | None, days: float, is_silent: bool, reason: str | None) -> None:
    """One that never had a process of ours ends after seven days of silence, which this server must have heard too."""
    quiet = episode(process=process, heard=NOW - timedelta(days=days))
    assert why_ended(quiet, Life.UNKNOWN, NOW, is_removed=False, is_silent=is_silent) == reason


def test_waiting_comes_first() -> None:
    """Whoever waits for a human is first in the list, then the longest open; a state that is not known is none."""

    def known(name: str, state: EpisodeState, minutes: int, liveness: Liveness = "heard") -> KnownEpisode:
        told = episode(id=name, state=state, since=NOW + timedelta(minutes=minutes))
        return KnownEpisode(episode=told, liveness=liveness)

    listed = in_order(
        [
            known("busy", EpisodeState.BUSY, 1),
            known("late", EpisodeState.WAITING, 9),
            known("stale", EpisodeState.WAITING, 0, "silent"),
            known("early", EpisodeState.WAITING, 8),
        ]
    )
    assert [one.episode.id for one in listed] == ["early", "late", "stale", "busy"]


def test_session_of_a_process() -> None:
    """A session lives as its process does; where that is not known, for as long as it is heard."""
    assert session_life(Life.GONE, "heard") is Life.GONE
    assert session_life(Life.ALIVE, "silent") is Life.ALIVE
    assert session_life(Life.UNKNOWN, "heard") is Life.ALIVE
    assert session_life(Life.UNKNOWN, "unheard") is session_life(Life.UNKNOWN, "silent") is Life.UNKNOWN
