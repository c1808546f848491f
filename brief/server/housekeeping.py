"""What a server does for its board at every look: note who is silent, close what has ended, store who was heard.

And it tells who waits for a bug-dep that was set to done in a file of the repository's own folder.
"""

from __future__ import annotations

from brief.handlers.fixes import tell_fixes_in
from brief.sections.notice_folders import own_folder
from brief.service import RepositoryService


def tend(service: RepositoryService) -> None:
    """One look at every open episode; raises MajordomusError where the board cannot be written."""
    board = service.board
    board.note_silence(service.now())
    service.end_lost()
    board.store_hearings()
    tell_fixes_in(service, (own_folder(service.context.state_dir),))
