"""Episodes: known by their id, and which one a call means."""

from __future__ import annotations

from datetime import timedelta

import pytest

from brief.core.model.errors import UsageError
from brief.core.model.section_data import EpisodeState
from brief.core.sessions.episode import (
    KnownEpisode,
    Process,
    best_known,
    check_id,
    check_provider,
    choose_meant,
    is_of_another,
    worth_storing,
)
from samples import NOW, ago, episode

ONE, TWO = episode("one"), episode("two")


@pytest.mark.parametrize("text", ["a", "0", "3f2b6c1e-7d0a-4c8e-9b1f-2a5d8e6c4b70", "A.b_c:d-e", "x" * 128])
def test_an_id_is_taken_as_given(text: str) -> None:
    """A UUID, and any short text of letters, digits and `. _ : -`, is an id."""
    assert check_id(text) == text


@pytest.mark.parametrize("text", ["", " a", "-a", ".a", "a b", "a/b", "a\n", "é", "a\0", "x" * 129, "\x1b[31m", "٣"])
def test_what_could_mislead_is_no_id(text: str) -> None:
    """Blank, long, with a path or a control in it, or beginning like an option: refused in a sentence on one line."""
    with pytest.raises(UsageError, match="is not an episode id; give up to 128") as caught:
        check_id(text)
    assert caught.value.sentence.isprintable()


@pytest.mark.parametrize("text", ["claude-code", "codex", "unknown", "a" * 40, "7"])
def test_a_provider_is_taken_as_given(text: str) -> None:
    """A short name in lower case is a provider's."""
    assert check_provider(text) == text


@pytest.mark.parametrize("text", ["", "Claude", "claude code", "-x", "a" * 41, "x\n", "ž"])
def test_what_is_no_name_is_no_provider(text: str) -> None:
    """Anything else is refused with an example."""
    with pytest.raises(UsageError, match="such as claude-code"):
        check_provider(text)


@pytest.mark.parametrize(
    ("session", "here", "which"),
    [
        ("named", (), "named"),
        ("named", ("one", "two"), "named"),
        (None, ("one",), "one"),
        (None, (), None),
        (None, ("one", "two"), None),
    ],
)
def test_which_episode_a_call_means(session: str | None, here: tuple[()], which: str | None) -> None:
    """The one it names; else the only one that is open here; with none or several, nobody guesses."""
    assert choose_meant(session, here) == which


def test_an_unheard_episode_is_in_no_known_state() -> None:
    """A server that has only read about an episode does not repeat what it did then."""
    assert KnownEpisode(episode=ONE, liveness="heard").state is EpisodeState.BUSY
    assert KnownEpisode(episode=ONE, liveness="unheard").state is EpisodeState.UNKNOWN


def test_an_episode_is_open_until_it_is_closed() -> None:
    """Silence closes nothing; a moment of closing does."""
    assert episode(heard=ago(days=400)).is_open
    assert not episode(closed=NOW).is_open


@pytest.mark.parametrize(("seconds", "worth"), [(0, False), (59, False), (60, True), (-60, True), (-59, False)])
def test_a_hearing_is_written_down_once_a_minute(seconds: int, worth: bool) -> None:
    """A hearing a minute from the stored one is written, also when the clock was set back."""
    assert worth_storing(NOW, NOW + timedelta(seconds=seconds)) is worth


@pytest.mark.parametrize(
    ("recorded", "pid", "is_other"),
    [(7, 8, True), (7, 7, False), (None, 7, False), (7, None, False), (None, None, False)],
)
def test_record_of_another_client(recorded: int | None, pid: int | None, is_other: bool) -> None:
    """A record is another client's where both processes are known and differ, and only there."""
    process = None if recorded is None else Process(pid=recorded, start=1, boot="b", table="t")
    assert is_of_another(episode(process=process), pid) is is_other


def test_process_that_could_not_be_read() -> None:
    """What could not be read of a process now is known from before, and another process is another."""
    was = Process(pid=7, start=1, boot="b", table="t")
    for pid, start, kept in ((7, None, True), (7, 2, False), (8, None, False)):
        now = Process(pid=pid, start=start, boot=None, table=None)
        assert best_known(was, now) == (was if kept else now)
    assert best_known(was, None) == was
    assert best_known(None, was) == was
