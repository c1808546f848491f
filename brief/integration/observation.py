"""The observation: the branches that waited to be merged, and when that was read. A JSON file, written atomically."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import DecodeError, field

from brief.core.model.errors import MajordomusError
from brief.core.model.first_fault import first_fault
from brief.core.model.section_data import IntegrationData, QueueEntry
from brief.core.model.wire import Count, Moment, Wire, from_json, to_json
from brief.fastpath.proof import UnprovenError
from brief.support.files import UnreadableFileError, reason_of, replace
from brief.support.state_folder import read_own

SCHEMA: Final = "majordomus.observation/v1"
_MOST = 8 * 1024 * 1024


class ObservationError(MajordomusError):
    """The observation of the repository cannot be read or written."""


class Observation(Wire, frozen=True, kw_only=True):
    """The queue as it was at `observed_at`, in the order of merging.

    `base` is a short branch name and `base_sha` its commit. `omitted` counts the branches that are ahead of the base
    but not among the entries. `unread` names the branches that git could not read, ahead or not. `gaps` are
    sentences about further branches that may be missing, of which the number is unknown.
    """

    schema_: Literal["majordomus.observation/v1"] = field(default=SCHEMA, name="schema")
    observed_at: Moment
    base: str
    base_sha: str
    provider: Literal["git", "github"]
    entries: tuple[QueueEntry, ...]
    omitted: Count
    unread: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    @property
    def next(self) -> str | None:
        """The branch to merge first: the oldest of those that contain the whole base, else the oldest of all."""
        return self.entries[0].name if self.entries else None

    def as_data(self) -> IntegrationData:
        """The observation as the data of a section."""
        return IntegrationData(
            open=len(self.entries) + self.omitted, next=self.next, observed_at=self.observed_at, queue=self.entries
        )

    def write(self, path: str) -> None:
        """Write the observation to `path`. Raises ObservationError."""
        try:
            replace(path, to_json(self).encode())
        except OSError as error:
            raise ObservationError(f"the observation cannot be written to {path}: {reason_of(error)}") from error


def read(path: str) -> Observation | None:
    """Read the observation at `path`. None if there is none yet; raises ObservationError if it cannot be read."""
    try:
        content = read_own(path, _MOST)
    except FileNotFoundError:
        return None
    except UnprovenError as error:
        raise ObservationError(str(error)) from error
    except UnreadableFileError as error:
        raise ObservationError(f"{path} {error}; {_REMEDY}") from error
    try:
        return from_json(Observation, content)
    except DecodeError as error:
        fault = first_fault(error)
        where = fault.where or "the text"
        raise ObservationError(f"{path} is not an observation ({where}: {fault.message}); {_REMEDY}") from error


_REMEDY = "make a new one with majordomus queue refresh"
