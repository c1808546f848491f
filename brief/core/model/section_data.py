"""The data of each section of a brief, with names unchanged."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from brief.core.model.level import Level
from brief.core.model.wire import Moment, Wire


class EpisodeState(StrEnum):
    """What an episode was doing when it was last heard from."""

    BUSY = "busy"
    IDLE = "idle"
    WAITING = "waiting"
    UNKNOWN = "unknown"


Liveness = Literal["heard", "unheard", "silent"]
"""Whether this server has heard from an episode itself, and whether it did so within three heartbeats."""


class EpisodeFact(Wire, frozen=True):
    """The caller's own episode."""

    id: str
    provider: str
    state: EpisodeState
    checkout: str
    branch: str | None
    since: Moment
    heard: Moment | None
    liveness: Liveness


class TaskFact(Wire, frozen=True):
    """The task of an episode. `next` is null if none was set, or if it is withheld for the reason `next_withheld`."""

    title: str
    scope: tuple[str, ...]
    since: Moment
    next: str | None
    next_since: Moment | None
    next_withheld: str | None


class StateData(Wire, frozen=True):
    """The caller's episode and task, and how many episodes are open in its checkout.

    `wakes` is what prevents wakes that the policy asks for, or null. `woken` is whether the session is woken on the
    interval: the policy asks for it, a mod or hook of its client accepts wakes, and nothing prevents them.
    """

    episode: EpisodeFact | None
    open: int
    task: TaskFact | None
    wakes: Literal["paused", "limit", "stopped"] | None = None
    woken: bool = False


class Board(Wire, frozen=True):
    """The episodes of one checkout, clone or machine. `count` is null if nobody could be asked.

    A board of kind `server` belongs to another server of this same repository, which this server replaced or which replaced
    it.
    """

    kind: Literal["checkout", "server", "clone", "machine"]
    name: str
    path: str | None
    condition: str
    reason: str | None
    count: int | None


class Peer(Wire, frozen=True, kw_only=True):
    """One other session. `liveness` is `unheard` until this server hears from it, and `silent` once it stops hearing."""

    episode: str
    provider: str
    state: EpisodeState
    task: str | None
    branch: str | None
    checkout: str
    since: Moment
    heard: Moment | None
    scope: tuple[str, ...] = ()
    source: Literal["registered", "seen", "mesh"]
    liveness: Liveness


class PeersData(Wire, frozen=True):
    """The other sessions. `count` is the number of peers on the boards that were really read."""

    count: int
    boards: tuple[Board, ...]
    peers: tuple[Peer, ...]


class MeshData(Wire, frozen=True):
    """Links to other machines and the state of the journal."""

    links: tuple[dict[str, Any], ...]
    journal: dict[str, Any]


class Contender(Wire, frozen=True):
    """Another queued branch that this one conflicts with, and the `paths` where they conflict."""

    name: str
    paths: tuple[str, ...]


class QueueEntry(Wire, frozen=True):
    """A branch that waits to be merged into the base."""

    name: str
    number: int | None
    lane: str
    disposition: str
    conflicts_with: tuple[Contender, ...] | None
    ahead: int
    behind: int
    committed_at: Moment | None
    worktree: str | None


class IntegrationData(Wire, frozen=True):
    """The queue as last observed. `open` counts the entries with changes that the base does not have.

    `stale` is true if the observation is older than the policy's `integration.refresh_minutes`.
    """

    open: int
    next: str | None
    observed_at: Moment
    queue: tuple[QueueEntry, ...]
    stale: bool = False


class DeriveData(Wire, frozen=True):
    """The derive lock of the repository."""

    state: Literal["free", "held", "stale"]
    holder: dict[str, Any] | None
    waiting: int


class ShownNotice(Wire, frozen=True):
    """A notice that concerns the caller; `level` is that of its row."""

    slug: str
    kind: str
    priority: int
    title: str
    countdown: str | None
    level: Level = Level.NORMAL


class Unparsable(Wire, frozen=True):
    """A notice file that could not be read, and why."""

    file: str
    reason: str


class AlertsData(Wire, frozen=True):
    """The notices shown, the number not shown, and the files that could not be read.

    `upcoming` are the notices that are not due yet, the next first. Only a list of reminders has them.
    `acknowledged` are the notices that the asking session has acknowledged, which it is not shown again.
    """

    shown: tuple[ShownNotice, ...]
    hidden: int
    unparsable: tuple[Unparsable, ...]
    upcoming: tuple[ShownNotice, ...] = ()
    acknowledged: tuple[ShownNotice, ...] = ()
