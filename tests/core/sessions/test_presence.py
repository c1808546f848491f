from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from brief.core.model.section_data import EpisodeState, Liveness
from brief.core.sessions.episode import Ended, Episode, KnownEpisode
from brief.core.sessions.presence import Seen, SeenByCheckout, SeenSession, find_deepest, merge_peers, without_ended
from brief.core.sessions.task import Task

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BUSY, IDLE, WAITING, UNKNOWN = EpisodeState.BUSY, EpisodeState.IDLE, EpisodeState.WAITING, EpisodeState.UNKNOWN


def known(name: str, state: EpisodeState, liveness: Liveness, minutes: int = 0) -> KnownEpisode:
    """A registered episode of /r."""
    since = NOW + timedelta(minutes=minutes)
    told = Episode(
        id=name, provider="codex", checkout="/r", branch="main", process=None, state=state, since=since, heard=since
    )
    return KnownEpisode(episode=told, liveness=liveness)


def seen(name: str, state: EpisodeState, minutes: int = 0) -> SeenSession:
    """A session that its client records."""
    since = NOW + timedelta(minutes=minutes)
    return SeenSession(id=name, provider="claude-code", cwd="/r/x", state=state, since=since, name=None, pid=1)


@pytest.mark.parametrize(
    ("state", "liveness", "recorded", "told"),
    [
        (IDLE, "heard", BUSY, IDLE),
        (IDLE, "unheard", BUSY, BUSY),
        (IDLE, "silent", WAITING, WAITING),
        (UNKNOWN, "heard", BUSY, BUSY),
        (IDLE, "unheard", UNKNOWN, UNKNOWN),
        (IDLE, "unheard", None, UNKNOWN),
    ],
)
def test_state_of_one_that_is_both(
    state: EpisodeState, liveness: Liveness, recorded: EpisodeState | None, told: EpisodeState
) -> None:
    """One session is one peer: as it was registered, with the recorded state only where the server knows none."""
    by_checkout: SeenByCheckout = {"/elsewhere": (seen("a", recorded),)} if recorded else {}
    (peer,) = merge_peers([known("a", state, liveness)], {}, by_checkout, {})
    assert (peer.state, peer.source, peer.checkout, peer.provider, peer.liveness) == (
        told,
        "registered",
        "/r",
        "codex",
        liveness,
    )


def test_state_from_one_outside() -> None:
    """A registered session that went elsewhere still lends its state; one that is only seen there is no peer here."""
    (peer,) = merge_peers([known("a", IDLE, "unheard")], {}, {None: (seen("a", BUSY), seen("b", BUSY))}, {})
    assert (peer.episode, peer.state) == ("a", BUSY)


def test_seen_alone() -> None:
    """A session that is only seen is a peer of the checkout it stands in, with its branch, never heard."""
    (peer,) = merge_peers([], {}, {"/r": (seen("a", BUSY),)}, {"/r": "topic"})
    assert (peer.source, peer.checkout, peer.branch, peer.heard, peer.liveness, peer.task) == (
        "seen",
        "/r",
        "topic",
        None,
        "unheard",
        None,
    )


def test_order() -> None:
    """Whoever waits for a human is first, from either source, then the longest here."""
    listed = merge_peers(
        [known("old", BUSY, "heard"), known("mine", WAITING, "heard", 9)],
        {"old": Task(episode="old", title="login", since=NOW)},
        {"/r": (seen("wait", WAITING, 5), seen("young", IDLE, 20))},
        {},
    )
    assert [peer.episode for peer in listed] == ["wait", "mine", "old", "young"]
    assert [peer.task for peer in listed] == [None, None, "login", None]


@pytest.mark.parametrize(
    ("folder", "root"),
    [
        ("/r", "outer"),
        ("/r/src", "outer"),
        ("/r/wt/a/src", "inner"),
        ("/r/wt/a", "inner"),
        ("/r/wt/ab", "outer"),
        ("/rx", None),
        ("/", None),
        ("/r/", "outer"),
    ],
)
def test_deepest(folder: str, root: str | None) -> None:
    """A folder lies in the deepest root that holds it by whole components."""
    assert find_deepest(folder, {"/r": "outer", "/r/wt/a": "inner"}) == root


def test_deepest_of_the_root_folder() -> None:
    """Where the root of the file system is a checkout, everything lies in it."""
    assert find_deepest("/a/b", {"/": "all"}) == "all"
    assert find_deepest("/", {"/": "all"}) == "all"


def test_record_of_a_session_that_ended() -> None:
    """A record that keeps the id of an ended session is none of a session; a later or another client's is."""
    found = Seen(sessions=(seen("e1", IDLE), seen("e2", IDLE)))
    for ended, left in (
        (Ended(NOW, 1), ["e2"]),
        (Ended(NOW, None), ["e2"]),
        (Ended(NOW, 8), ["e1", "e2"]),
        (Ended(NOW - timedelta(days=1), 1), ["e1", "e2"]),
    ):
        assert [one.id for one in without_ended(found, {"e1": ended}).sessions] == left
