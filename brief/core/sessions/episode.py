"""An episode: the record of one conversation with a coding agent, identified by its id."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from brief.core.model.errors import UsageError
from brief.core.model.section_data import EpisodeState, Liveness
from brief.core.model.wire import Moment, Wire

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_PROVIDER = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


class Process(Wire, frozen=True):
    """The identity of a process, distinct from a later one with the same number: start in clock ticks since boot, boot id.

    `table` is the process table in which the number is valid, "" on a system that has only one. It is null if no process in
    our own table had the number, as for a client in a container.
    """

    pid: int
    start: int | None
    boot: str | None
    table: str | None = None


class Client(NamedTuple):
    """A process that shows a session, and the absolute path of its checkout."""

    pid: int
    checkout: str
    process: Process | None = None


class Ended(NamedTuple):
    """When a session ended, and its client's process, None if that was not reported."""

    at: datetime
    pid: int | None


class Episode(Wire, frozen=True):
    """The record of one conversation. `checkout` is an absolute path; `heard` is when it last called a server."""

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
        """Whether the conversation has not been closed."""
        return self.closed is None


class KnownEpisode(Wire, frozen=True):
    """An episode as a server knows it: `unheard` until it has called this very server, `silent` once it stops."""

    episode: Episode
    liveness: Liveness

    @property
    def state(self) -> EpisodeState:
        """The state that it reported. UNKNOWN if this server has never, or not recently, heard from it."""
        return self.episode.state if self.liveness == "heard" else EpisodeState.UNKNOWN


def best_known(before: Process | None, now: Process | None) -> Process | None:
    """The better of the recorded and the present process of an episode: an unreadable one does not replace the record."""
    if now is None or (before is not None and before.pid == now.pid and now.start is None):
        return before
    return now


def is_of_another(episode: Episode, pid: int | None) -> bool:
    """Whether the episode belongs to a client other than the process `pid`. False if either is unknown."""
    return pid is not None and episode.process is not None and episode.process.pid != pid


def check_id(text: str) -> str:
    """Check an episode id: up to 128 letters, digits and `. _ : -`, starting with a letter or digit. Raises UsageError."""
    if not _ID.fullmatch(text):
        raise UsageError(
            f"session {text[:60]!r} is not an episode id; give up to 128 letters, digits and . _ : - (a UUID is best)"
        )
    return text


def check_provider(text: str) -> str:
    """Check a provider's name: up to 40 lower-case letters, digits and dashes. Raises UsageError."""
    if not _PROVIDER.fullmatch(text):
        raise UsageError(
            f"provider {text[:60]!r} is not a provider's name; give up to 40 lower-case letters, digits and dashes, "
            "such as claude-code"
        )
    return text


def choose_meant(session: str | None, open_here: tuple[str, ...]) -> str | None:
    """The episode that a call means: the one it names, else the only open one of its checkout, else None."""
    if session is not None:
        return session
    return open_here[0] if len(open_here) == 1 else None


def worth_storing(stored: datetime, heard: datetime) -> bool:
    """Whether `heard` differs enough from the stored time to be written again."""
    return abs(heard - stored) >= timedelta(minutes=1)
