"""List each session once, although a repository copied with its state has the original's episodes in its database."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from brief.clones.asking import Neighbour
from brief.clones.neighbours import Neighbourhood
from brief.core.model.section_data import Peer
from brief.core.sessions.episode import KnownEpisode


def drop_reported_elsewhere(
    known: tuple[KnownEpisode, ...], checkouts: AbstractSet[str], hood: Neighbourhood
) -> tuple[KnownEpisode, ...]:
    """This server's episodes, less those in a checkout that git does not list here and that a clone reports."""
    elsewhere = {peer.episode for neighbour in hood.neighbours for peer in neighbour.peers}
    return tuple(one for one in known if one.episode.checkout in checkouts or one.episode.id not in elsewhere)


def drop_duplicates(neighbours: tuple[Neighbour, ...], listed: AbstractSet[str]) -> tuple[Neighbour, ...]:
    """The neighbours without the `listed` sessions, each other session only with the neighbour that knows it best.

    A ready neighbour's board counts what is left; a superseded one's keeps the count that it answered.
    """
    best: dict[str, tuple[tuple[bool, bool], int]] = {}
    for at, neighbour in enumerate(neighbours):
        for peer in neighbour.peers:
            rank = (neighbour.board.condition == "ready", peer.liveness == "heard")
            if peer.episode not in best or rank > best[peer.episode][0]:
                best[peer.episode] = (rank, at)
    mine = {episode: at for episode, (_, at) in best.items() if episode not in listed}
    return tuple(
        _with_peers(neighbour, tuple(peer for peer in neighbour.peers if mine.get(peer.episode) == at))
        for at, neighbour in enumerate(neighbours)
    )


def _with_peers(neighbour: Neighbour, peers: tuple[Peer, ...]) -> Neighbour:
    ready = neighbour.board.condition == "ready"
    board = neighbour.board.replace(count=len(peers)) if ready else neighbour.board
    return Neighbour(board, peers, neighbour.gap)
