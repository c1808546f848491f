"""Answers a command without a server: the service answers once, and its answer says why no server did."""

from __future__ import annotations

import os
from pathlib import Path

from brief import __version__
from brief.compose import DEADLINE_SECONDS
from brief.core.model.brief import AnsweredBy
from brief.fastpath.lease import state_dir
from brief.fastpath.locate import Located
from brief.service import RepositoryService
from brief.sessions.stored import StoredSessions
from brief.support.state_folder import UnprovenStateError, refuse_unproven
from brief.support.wall_clock import utc_now


def why_offline(here: Located, absence: str) -> str:
    """Say why no server answered; if the state folder is not proven to be the user's own, none is started either."""
    try:
        refuse_unproven(state_dir(here.common_dir))
    except UnprovenStateError as fault:
        return f"no server is asked or started: {fault.sentence}"
    return absence


def offline_service(here: Located, absence: str, deadline_seconds: float = DEADLINE_SECONDS) -> RepositoryService:
    """Return a service that reads what the last server stored and says in its answers why no server gave them."""
    absence = why_offline(here, absence)

    def identity(root: str) -> AnsweredBy:
        return AnsweredBy(kind="self", pid=os.getpid(), root=root, epoch=None, version=__version__, reason=absence)

    return RepositoryService(
        here.common_dir,
        now=utc_now,
        sessions=StoredSessions(Path(state_dir(here.common_dir)) / "majordomus.db"),
        absence=absence,
        identity=identity,
        deadline_seconds=deadline_seconds,
    )
