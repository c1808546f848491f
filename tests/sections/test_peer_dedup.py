from __future__ import annotations

from pathlib import Path

from brief.clones.asking import Neighbour
from brief.clones.neighbours import Neighbourhood
from brief.core.model.section_data import Board, EpisodeState
from brief.core.sessions.episode import Episode, KnownEpisode
from brief.sections.peer_dedup import drop_duplicates, drop_reported_elsewhere
from neighbourhood import NOW, peer


def clone(name: str, *peers: tuple[str, bool], condition: str = "ready") -> Neighbour:
    """A clone that reports these sessions, each with whether it heard from them itself."""
    board = Board(kind="clone", name=name, path=f"/{name}", condition=condition, reason=None, count=len(peers))
    return Neighbour(board, tuple(peer(episode, "/original", heard=heard) for episode, heard in peers))


def known(episode: str, checkout: str) -> KnownEpisode:
    """An episode of this server."""
    return KnownEpisode(
        liveness="unheard",
        episode=Episode(
            id=episode,
            provider="claude-code",
            checkout=checkout,
            branch=None,
            process=None,
            state=EpisodeState.BUSY,
            since=NOW,
            heard=NOW,
        ),
    )


def left(neighbours: tuple[Neighbour, ...]) -> list[tuple[str, list[str], int | None]]:
    """Each clone with its sessions and its count."""
    return [(each.board.name, [peer.episode for peer in each.peers], each.board.count) for each in neighbours]


def test_a_copied_episode_is_the_originals() -> None:
    """A copied episode of another checkout is left to the clone that reports it."""
    mine = (known("mine", "/copy"), known("theirs", "/original"), known("lost", "/removed"))
    hood = Neighbourhood((clone("original", ("theirs", True), ("mine", False)),), ())
    assert [one.episode.id for one in drop_reported_elsewhere(mine, {"/copy"}, hood)] == ["mine", "lost"]


def test_what_is_told_here_is_not_told_again() -> None:
    """A clone counts the sessions that it alone reports; a superseded server counts what it answered."""
    neighbours = (clone("a", ("mine", False), ("e1", True)), clone("old", ("mine", True), condition="superseded"))
    assert left(drop_duplicates(neighbours, {"mine"})) == [("a", ["e1"], 1), ("old", [], 1)]


def test_of_two_clones_the_one_that_heard_a_session_tells_it() -> None:
    """A server that still holds its repository outranks one that heard from the session."""
    neighbours = (
        clone("copy", ("e1", False), ("e2", False)),
        clone("old", ("e2", True), condition="superseded"),
        clone("original", ("e1", True)),
    )
    assert left(drop_duplicates(neighbours, frozenset())) == [
        ("copy", ["e2"], 1),
        ("old", [], 1),
        ("original", ["e1"], 1),
    ]


def test_nothing_is_nothing(tmp_path: Path) -> None:
    """Without clones nothing changes."""
    mine = (known("mine", str(tmp_path)),)
    assert drop_reported_elsewhere(mine, {str(tmp_path)}, Neighbourhood((), ())) == mine
    assert drop_duplicates((), frozenset()) == ()
