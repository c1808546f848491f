"""The wire format of a brief: `majordomus.brief/v1`, frozen, additive changes only (DESIGN section 4).

`data` holds names as they are, since a branch name is an identity; `line`, `headline` and `rows` hold them
cleaned. The validators keep the one promise that matters: a section that was not read cannot look read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    model_validator,
)

from brief.core.model.level import Level
from brief.core.model.wire import Moment, Wire

SCHEMA: Final = "majordomus.brief/v1"


class Status(StrEnum):
    """Whether a section was really read."""

    READ = "read"
    PARTIAL = "partial"
    UNREAD = "unread"
    UNDECLARED = "undeclared"


class EpisodeState(StrEnum):
    """What an episode was doing when it was last heard."""

    BUSY = "busy"
    IDLE = "idle"
    WAITING = "waiting"
    UNKNOWN = "unknown"


Liveness = Literal["heard", "unheard", "silent"]
"""Whether this server has heard an episode itself, and whether it did so within three looks."""


class Row(Wire):
    """One cleaned line of a section, for people and models; `pin` is the fixed words the line shows for it."""

    text: str
    level: Level = Level.NORMAL
    pin: str | None = Field(default=None, exclude_if=lambda pin: pin is None)


def count_urgent(rows: Iterable[Row]) -> int:
    """How many of the rows are above NORMAL."""
    return sum(row.level is not Level.NORMAL for row in rows)


# ---------------------------------------------------------------- what each section holds


class EpisodeFact(Wire):
    """The caller's own episode."""

    id: str
    provider: str
    state: EpisodeState
    checkout: str
    branch: str | None
    since: Moment
    heard: Moment | None
    liveness: Liveness


class TaskFact(Wire):
    """What an episode works on; `next` is null where none was set or where it is withheld, then with the reason."""

    title: str
    scope: tuple[str, ...]
    since: Moment
    next: str | None
    next_since: Moment | None
    next_withheld: str | None


class StateData(Wire):
    """The caller's episode and task, and how many episodes are open in its checkout.

    `wakes` is what keeps the session from being woken although the policy asks for it, null where nothing does; `woken`
    is whether it is woken on the interval: the policy asks for it, a mod or hook of its client takes it, nothing forbids it.
    """

    episode: EpisodeFact | None
    open: int
    task: TaskFact | None
    wakes: Literal["paused", "limit", "stopped"] | None = None
    woken: bool = False


class Board(Wire):
    """The episodes of one checkout, clone or machine; `count` is null where nobody could be asked.

    A board of kind `server` is that of another server of this very repository, which this one replaced or was replaced by.
    """

    kind: Literal["checkout", "server", "clone", "machine"]
    name: str
    path: str | None
    condition: str
    reason: str | None
    count: int | None


class Peer(Wire):
    """One other session. `liveness` is `unheard` until this server has heard it itself, `silent` once it no longer does."""

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


class PeersData(Wire):
    """Who else is here; `count` counts the peers of the boards that were really read."""

    count: int
    boards: tuple[Board, ...]
    peers: tuple[Peer, ...]


class MeshData(Wire):
    """Links to other machines and the state of the journal."""

    links: tuple[dict[str, Any], ...]
    journal: dict[str, Any]


class Contender(Wire):
    """Another branch of the queue that this one conflicts with, and where."""

    name: str
    paths: tuple[str, ...]


class QueueEntry(Wire):
    """One branch that waits to be merged into the base."""

    name: str
    number: int | None
    lane: str
    disposition: str
    conflicts_with: tuple[Contender, ...] | None
    ahead: int
    behind: int
    committed_at: Moment | None
    worktree: str | None


class IntegrationData(Wire):
    """The queue as it was observed; `open` counts the entries that hold something the base does not.

    `stale` is whether the observation is older than the policy's `integration.refresh_minutes`.
    """

    open: int
    next: str | None
    observed_at: Moment
    queue: tuple[QueueEntry, ...]
    stale: bool = False


class DeriveData(Wire):
    """The derive lock of the repository."""

    state: Literal["free", "held", "stale"]
    holder: dict[str, Any] | None
    waiting: int


class ShownNotice(Wire):
    """A notice that concerns the caller; `level` is that of its row."""

    slug: str
    kind: str
    priority: int
    title: str
    countdown: str | None
    level: Level = Level.NORMAL


class Unparsable(Wire):
    """A notice file that could not be read, and why."""

    file: str
    reason: str


class AlertsData(Wire):
    """The notices shown, how many were not, and the files that could not be read.

    `upcoming` are those that are still to come, the next first; only a list of reminders has them.
    """

    shown: tuple[ShownNotice, ...]
    hidden: int
    unparsable: tuple[Unparsable, ...]
    upcoming: tuple[ShownNotice, ...] = ()


# ---------------------------------------------------------------- sections


_HONESTY: Final[dict[str, Any]] = {
    "allOf": [
        {
            "if": {"properties": {"status": {"enum": [Status.READ.value, Status.PARTIAL.value]}}},
            "then": {"properties": {"as_of": {"type": "string"}}},
            "else": {"properties": {"data": {"type": "null"}, "as_of": {"type": "null"}}},
        },
        {
            "if": {"properties": {"status": {"const": Status.READ.value}}},
            "else": {"properties": {"reason": {"type": "string", "minLength": 1}}},
        },
    ]
}
"""What `Section` promises, as JSON Schema has it, so that every reader can check it."""


class Section(Wire):
    """What one section reader answered. Times in UTC, `took_ms` in milliseconds, `see` is the command that shows the rest.

    `omitted` counts the rows that were left out, `omitted_urgent` those of them that are above NORMAL.
    """

    name: str
    status: Status
    headline: str
    rows: tuple[Row, ...] = ()
    data: Any = None
    reason: str | None = None
    as_of: Moment | None = None
    took_ms: float = 0.0
    omitted: int = 0
    omitted_urgent: int = 0
    see: str

    model_config = ConfigDict(json_schema_extra=_HONESTY)

    @model_validator(mode="after")
    def _is_honest(self) -> Self:
        asked = self.status in (Status.READ, Status.PARTIAL)
        if not asked and self.data is not None:
            raise ValueError(f"section {self.name} is {self.status} and cannot carry data")
        if not asked and self.as_of is not None:
            raise ValueError(f"section {self.name} is {self.status} and was never read, so it has no as_of")
        if asked and self.as_of is None:
            raise ValueError(f"section {self.name} is {self.status} and must say as of when")
        if self.status is not Status.READ and not self.reason:
            raise ValueError(f"section {self.name} is {self.status} and must say why")
        return self

    def keep_rows(self, rows: tuple[Row, ...]) -> Self:
        """The section with these of its rows; what is left out is counted."""
        urgent = count_urgent(self.rows) - count_urgent(rows)
        return self.model_copy(
            update={
                "rows": rows,
                "omitted": self.omitted + len(self.rows) - len(rows),
                "omitted_urgent": self.omitted_urgent + urgent,
            }
        )

    @property
    def fully_read(self) -> bool:
        """Whether nothing of what is set up to be asked went unread."""
        return self.status in (Status.READ, Status.UNDECLARED)


class StateSection(Section):
    """The caller's own episode and task."""

    name: Literal["state"] = "state"
    data: StateData | None = None
    see: str = "majordomus task show"


class PeersSection(Section):
    """The boards of every checkout, and who is on them."""

    name: Literal["peers"] = "peers"
    data: PeersData | None = None
    see: str = "majordomus peers list"


class MeshSection(Section):
    """The other machines."""

    name: Literal["mesh"] = "mesh"
    data: MeshData | None = None
    see: str = "majordomus policy show"


class IntegrationSection(Section):
    """What waits to be merged."""

    name: Literal["integration"] = "integration"
    data: IntegrationData | None = None
    see: str = "majordomus queue show"


class DeriveSection(Section):
    """The derive lock."""

    name: Literal["derive"] = "derive"
    data: DeriveData | None = None
    see: str = "majordomus derive status"


class AlertsSection(Section):
    """The notices that sessions leave each other."""

    name: Literal["alerts"] = "alerts"
    data: AlertsData | None = None
    see: str = "majordomus alerts list"


SECTIONS: Mapping[str, type[Section]] = {
    "state": StateSection,
    "peers": PeersSection,
    "mesh": MeshSection,
    "integration": IntegrationSection,
    "derive": DeriveSection,
    "alerts": AlertsSection,
}
"""The six sections, in the order of every brief."""


# ---------------------------------------------------------------- the brief


class AnsweredBy(Wire):
    """Who composed: the lease holder, a server that lost the lease, or the command by itself; the latter two with the reason."""

    kind: Literal["lease-holder", "superseded", "self"]
    pid: int
    root: str
    epoch: int | None
    version: str
    reason: str | None


class Repository(Wire):
    """The checkout a brief is about; paths and names as they are.

    `head` is null where the branch has no commit yet, and where HEAD could not be read: then `head_unread` says why, and
    `branch` and `detached` say nothing.
    """

    root: str
    common_dir: str
    primary: str
    branch: str | None
    head: str | None
    detached: bool
    head_unread: str | None = None


class Brief(Wire):
    """Six sections, each saying whether it was really read."""

    schema_: Literal["majordomus.brief/v1"] = Field(default=SCHEMA, alias="schema")
    generated_at: Moment
    answered_by: AnsweredBy
    repository: Repository
    interval_minutes: int
    on_interval: bool
    on_interval_reason: str | None
    line: str
    summary: str
    unread: tuple[str, ...]
    notes: tuple[str, ...]
    sections: tuple[StateSection, PeersSection, MeshSection, IntegrationSection, DeriveSection, AlertsSection]

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, serialize_by_alias=True)

    @property
    def fully_read(self) -> bool:
        """Whether `--strict` is satisfied: HEAD and every section that is set up were read in full."""
        return self.repository.head_unread is None and all(section.fully_read for section in self.sections)
