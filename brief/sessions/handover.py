"""An episode that several clients show: which of them owns it, and who gets it when its owner ends."""

from __future__ import annotations

from datetime import datetime

from brief.core.model.section_data import EpisodeState
from brief.core.sessions.episode import Client, Episode, is_of_another
from brief.core.sessions.life import Life
from brief.sessions.board import Board
from brief.sessions.processes import find_process, process_life


def note_client(board: Board, episode_id: str, pid: int, checkout: str, now: datetime) -> bool:
    """Note that a client called for an episode. Whether it owns the episode: the first recently heard client does.

    The client in the record counts as the first, even if only an earlier server has heard it.
    """
    known = board.find_open(episode_id)
    episode = None if known is None else known.episode
    if episode is not None and episode.process is not None and is_of_another(episode, pid):
        first = episode.process
        if not board.activity.knows_client(episode_id, first.pid):
            board.activity.note_client(episode_id, Client(first.pid, episode.checkout, first), episode.heard)
    return board.activity.note_client(episode_id, Client(pid, checkout, find_process(pid)), now)


def leave(board: Board, episode_id: str, pid: int | None, reason: str, now: datetime) -> Episode:
    """Close an episode that a client has ended, unless another client may still show it: then that one owns it.

    A client that does not report its process ends the episode for all, unless several are known to show it.
    """
    episode = board.require_open(episode_id)
    others = board.activity.remove_client(episode_id, pid, now)
    process = episode.process
    if process is not None and is_of_another(episode, pid) and process_life(process) is not Life.GONE:
        return episode
    if pid is None and len(others) > 1:
        return episode
    if pid is not None and others:
        return _hand_over(board, episode, others[0], now)
    return board.close(episode_id, reason, now)


def hand_over(board: Board, episode_id: str, now: datetime) -> bool:
    """Give an episode whose own process has ended to the next client. False if no other client shows it."""
    episode = board.require_open(episode_id)
    others = board.activity.remove_client(episode_id, episode.process.pid if episode.process else None, now)
    if others:
        _hand_over(board, episode, others[0], now)
    return bool(others)


def _hand_over(board: Board, episode: Episode, client: Client, now: datetime) -> Episode:
    known = board.open(
        episode.id,
        provider=episode.provider,
        checkout=client.checkout,
        branch=episode.branch if client.checkout == episode.checkout else None,
        process=client.process,
        state=EpisodeState.UNKNOWN,
        now=now,
    )
    return known.episode
