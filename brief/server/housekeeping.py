"""What a server does for its board at every look: note who is silent, close what has ended, store who was heard."""

from __future__ import annotations

from brief.service import RepositoryService


def tend(service: RepositoryService) -> None:
    """One look at every open episode; raises MajordomusError where the board cannot be written."""
    board = service.board
    board.note_silence(service.now())
    service.end_lost()
    board.store_hearings()
