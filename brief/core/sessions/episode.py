"""An episode: one conversation of a coding agent, known by its id and never by its position."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from brief.core.model.brief import EpisodeState, Liveness
from brief.core.model.errors import UsageError
from brief.core.model.wire import Moment, Wire

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_PROVIDER = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


class Process(Wire):
    """What tells one process from a later one with the same number: start in clock ticks since boot, boot id.

    `table` is the process table in which the number counts, "" on a system that has only one. It is null where no process
    of our own table had the number, as for a client in a container.
    """

    pid: int
    start: int | None
    boot: str | None
    table: str | None = None


class Client(NamedTuple):
    """A process that shows a session, and the checkout in which it does; an absolute path."""

    pid: int
    checkout: str
    process: Process | None = None


class Ended(NamedTuple):
    """When a session ended, and the process of the client that showed it, None where that was not told."""

    at: datetime
    pid: int | None


class Episode(Wire):
    """The record of one conversation. `checkout` is an absolute path; `heard` is when it last spoke to a server."""

    id: str
    provider: str
    checkout: str
    branch: str | None
    process: Process | None
    state: EpisodeState
    since: Moment
    heard: Moment
    closed: Moment | None = None
    closed_reason: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether the conversation goes on, as far as anybody said."""
        return self.closed is None


class KnownEpisode(Wire):
    """An episode as a server knows it: `unheard` until it has spoken to this very server, `silent` once it stopped."""

    episode: Episode
    liveness: Liveness

    @property
    def state(self) -> EpisodeState:
        """The state it gave, or unknown where this server has only read about it, or has not heard it of late."""
        return self.episode.state if self.liveness == "heard" else EpisodeState.UNKNOWN


def best_known(before: Process | None, now: Process | None) -> Process | None:
    """The process of an episode, as recorded before and found now: what could not be read now is kept as it was."""
    if now is None or (before is not None and before.pid == now.pid and now.start is None):
        return before
    return now


def is_of_another(episode: Episode, pid: int | None) -> bool:
    """Whether the record follows another client than the process `pid`; where either is not known, nobody is another."""
    return pid is not None and episode.process is not None and episode.process.pid != pid


def checked_id(text: str) -> str:
    """An episode id as given, or UsageError: up to 128 letters, digits and `. _ : -`, a letter or digit first."""
    if not _ID.fullmatch(text):
        raise UsageError(
            f"session {text[:60]!r} is no episode id; give up to 128 letters, digits and . _ : - (a UUID is best)"
        )
    return text


def checked_provider(text: str) -> str:
    """A provider's name as given, or UsageError: up to 40 lower-case letters, digits and dashes."""
    if not _PROVIDER.fullmatch(text):
        raise UsageError(
            f"provider {text[:60]!r} is no name; give up to 40 lower-case letters, digits and dashes, as in claude-code"
        )
    return text


def meant(session: str | None, open_here: tuple[str, ...]) -> str | None:
    """Which episode a call means: the one it names, else the only open one of its checkout, else none."""
    if session is not None:
        return session
    return open_here[0] if len(open_here) == 1 else None


def worth_storing(stored: datetime, heard: datetime) -> bool:
    """Whether a hearing is far enough from the stored one to be written down again."""
    return abs(heard - stored) >= timedelta(minutes=1)
