from __future__ import annotations

import os
import subprocess
import sys

import pytest

from brief.core.model.errors import UsageError
from brief.handlers.episodes import (
    CloseInputs,
    Episodes,
    ListInputs,
    OneEpisode,
    OpenInputs,
    close_episode,
    list_episodes,
    list_text,
    open_episode,
)
from repo_fixture import ANN, Place


def opened(place: Place, **given: object) -> OneEpisode:
    """Open an episode."""
    return place.call(open_episode, OpenInputs, session=ANN, **given)


def listed(place: Place) -> Episodes:
    """The open episodes."""
    return place.call(list_episodes, ListInputs)


def test_a_process_that_is_gone_is_refused(place: Place) -> None:
    """A number that no process has opens nothing, and the error says what to give instead; a running process is watched."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with pytest.raises(UsageError, match=f"pid {ended.pid}: no process has this number .*; give that of one that runs"):
        opened(place, pid=ended.pid)
    assert listed(place).open == ()
    process = opened(place, pid=os.getpid()).episode.process
    assert process is not None
    assert process.pid == os.getpid()


def test_opened_again_by_who_does_not_say_whose_it_is(place: Place) -> None:
    """The provider that is known stays known, also where the episode was closed meanwhile; another one replaces it."""
    opened(place, provider="claude-code")
    assert opened(place).episode.provider == "claude-code"
    place.call(close_episode, CloseInputs, session=ANN)
    assert opened(place).episode.provider == "claude-code"
    assert opened(place, provider="other").episode.provider == "other"


def test_nobody_is_here(place: Place) -> None:
    """If no episode is open, the list names the command that opens one, and only then."""
    hint = "; majordomus episode open opens one"
    assert list_text(listed(place)) == f"0 episodes are open in this repository{hint}\n"
    opened(place)
    assert hint not in list_text(listed(place))
