"""One session told once: a repository copied with its state carries the episodes of the original in its own database."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from brief.clones.asking import Neighbour
from brief.clones.neighbours import Neighbourhood
from brief.core.model.brief import Peer
from brief.core.sessions.episode import KnownEpisode


def elsewhere_left_out(
    known: tuple[KnownEpisode, ...], checkouts: AbstractSet[str], hood: Neighbourhood
) -> tuple[KnownEpisode, ...]:
    """The episodes of this server, without those of checkouts that git does not list here and a clone answers for."""
    elsewhere = {peer.episode for neighbour in hood.neighbours for peer in neighbour.peers}
    return tuple(one for one in known if one.episode.checkout in checkouts or one.episode.id not in elsewhere)


def told_once(neighbours: tuple[Neighbour, ...], told: AbstractSet[str]) -> tuple[Neighbour, ...]:
    """The neighbours without the peers that were `told` already, and each other session with the one that knows best.

    The board of a ready one counts what is left, the board of a superseded one what it answered.
    """
    best: dict[str, tuple[tuple[bool, bool], int]] = {}
    for at, neighbour in enumerate(neighbours):
        for peer in neighbour.peers:
            rank = (neighbour.board.condition == "ready", peer.liveness == "heard")
            if peer.episode not in best or rank > best[peer.episode][0]:
                best[peer.episode] = (rank, at)
    mine = {episode: at for episode, (_, at) in best.items() if episode not in told}
    return tuple(
        _left(neighbour, tuple(peer for peer in neighbour.peers if mine.get(peer.episode) == at))
        for at, neighbour in enumerate(neighbours)
    )


def _left(neighbour: Neighbour, peers: tuple[Peer, ...]) -> Neighbour:
    ready = neighbour.board.condition == "ready"
    board = neighbour.board.model_copy(update={"count": len(peers)}) if ready else neighbour.board
    return Neighbour(board, peers, neighbour.gap)
