"""The wire format of a brief, `majordomus.brief/v1`, to which fields are only ever added.

`data` holds names unchanged, because a branch name is an identity. `line`, `headline` and `rows` hold them sanitized. The
validators keep the promise that matters most: a section that was not read cannot look as if it were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, Literal, Self

from msgspec import field

from brief.core.model.level import Level
from brief.core.model.section_data import AlertsData, DeriveData, IntegrationData, MeshData, PeersData, StateData
from brief.core.model.wire import Moment, Wire
from brief.core.policy.names import PolicySource

SCHEMA: Final = "majordomus.brief/v1"


class Status(StrEnum):
    """Whether a section was really read. See the glossary in ARCHITECTURE.md."""

    READ = "read"
    PARTIAL = "partial"
    UNREAD = "unread"
    UNDECLARED = "undeclared"


class Row(Wire, frozen=True):
    """One sanitized line of a section, for people and models.

    `pin` is the fixed text that stands for it in the line; `pin_details` are words that follow it where there is room.
    """

    text: str
    level: Level = Level.NORMAL
    pin: str | None = None
    pin_details: tuple[str, ...] = ()


def count_urgent(rows: Iterable[Row]) -> int:
    """Count the rows above NORMAL."""
    return sum(row.level is not Level.NORMAL for row in rows)


# ---------------------------------------------------------------- sections


HONESTY: Final[dict[str, Any]] = {
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
"""What `Section` promises, as JSON Schema, so that every client can check it."""


class DishonestSectionError(ValueError):
    """A section claims to have been read and was not, or the other way round."""


class Section(Wire, frozen=True, kw_only=True):
    """The answer of one section reader. `took_ms` is in milliseconds; `see` is the command that shows the rest.

    `omitted` counts the rows that were left out, `omitted_urgent` those among them above NORMAL.
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

    def __post_init__(self) -> None:
        """Raise DishonestSectionError for a section that looks as if it were read and was not."""
        asked = self.status in (Status.READ, Status.PARTIAL)
        if not asked and self.data is not None:
            raise DishonestSectionError(f"section {self.name} is {self.status} and cannot carry data")
        if not asked and self.as_of is not None:
            raise DishonestSectionError(
                f"section {self.name} is {self.status} and was never read, so it cannot have as_of"
            )
        if asked and self.as_of is None:
            raise DishonestSectionError(f"section {self.name} is {self.status} and must have as_of")
        if self.status is not Status.READ and not self.reason:
            raise DishonestSectionError(f"section {self.name} is {self.status} and must say why")

    def keep_rows(self, rows: tuple[Row, ...]) -> Self:
        """The section with only these of its rows. The other rows are counted as omitted."""
        urgent = count_urgent(self.rows) - count_urgent(rows)
        return self.replace(
            rows=rows, omitted=self.omitted + len(self.rows) - len(rows), omitted_urgent=self.omitted_urgent + urgent
        )

    @property
    def fully_read(self) -> bool:
        """Whether everything that is set up to be asked was read in full."""
        return self.status in (Status.READ, Status.UNDECLARED)


class StateSection(Section, frozen=True, kw_only=True):
    """The caller's own episode and task."""

    name: Literal["state"] = "state"
    data: StateData | None = None
    see: str = "majordomus task show"


class PeersSection(Section, frozen=True, kw_only=True):
    """The boards of every checkout, and the sessions on them."""

    name: Literal["peers"] = "peers"
    data: PeersData | None = None
    see: str = "majordomus peers list"


class MeshSection(Section, frozen=True, kw_only=True):
    """The other machines."""

    name: Literal["mesh"] = "mesh"
    data: MeshData | None = None
    see: str = "majordomus policy show"


class IntegrationSection(Section, frozen=True, kw_only=True):
    """The branches that wait to be merged."""

    name: Literal["integration"] = "integration"
    data: IntegrationData | None = None
    see: str = "majordomus queue show"


class DeriveSection(Section, frozen=True, kw_only=True):
    """The derive lock."""

    name: Literal["derive"] = "derive"
    data: DeriveData | None = None
    see: str = "majordomus derive status"


class AlertsSection(Section, frozen=True, kw_only=True):
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


SixSections = tuple[StateSection, PeersSection, MeshSection, IntegrationSection, DeriveSection, AlertsSection]


# ---------------------------------------------------------------- the brief


class AnsweredBy(Wire, frozen=True):
    """Who composed the brief: the lease holder, a server that lost the lease, or the command by itself.

    In the last two cases `reason` says why.
    """

    kind: Literal["lease-holder", "superseded", "self"]
    pid: int
    root: str
    epoch: int | None
    version: str
    reason: str | None


class Repository(Wire, frozen=True):
    """The checkout that a brief is about, with paths and names unchanged.

    `head` is null if the branch has no commit yet, or if HEAD could not be read. In that case `head_unread` says why, and
    `branch` and `detached` mean nothing.
    """

    root: str
    common_dir: str
    primary: str
    branch: str | None
    head: str | None
    detached: bool
    head_unread: str | None = None


class PolicyInForce(Wire, frozen=True):
    """The policy that applies to the checkout: whose file it is, and its path. `path` is null if the defaults apply."""

    source: PolicySource
    path: str | None


class Brief(Wire, frozen=True, kw_only=True):
    """Six sections, each saying whether it was really read."""

    schema_: Literal["majordomus.brief/v1"] = field(default=SCHEMA, name="schema")
    generated_at: Moment
    answered_by: AnsweredBy
    repository: Repository
    interval_minutes: int
    on_interval: bool
    on_interval_reason: str | None
    policy: PolicyInForce | None = None
    line: str
    summary: str
    unread: tuple[str, ...]
    notes: tuple[str, ...]
    sections: SixSections

    @property
    def fully_read(self) -> bool:
        """Whether HEAD and every section that is set up were read in full, as `--strict` demands."""
        return self.repository.head_unread is None and all(section.fully_read for section in self.sections)
