"""What is known of a lost database: noted in `lease.lock` by the server that lost it, and stored in the next database."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from brief.core.text.sanitize import clean
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.fastpath.proof import read_file
from brief.fastpath.reach import LOCK

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

MOST_RECORD = 4_096
"""The bytes that are read of `lease.lock`. The longest record fits, also into one block, so that a full disk cuts none."""

_MOST_REASON = 1_000
_MOST_REASON_BYTES = 3_000
"""The most bytes of a reason, as escaped in JSON."""
_MOST_LOSSES = 8
UNHEARD = "who was here is unknown until they are heard again"
"""Opens the sentence that sessions may be missing."""


class Loss(NamedTuple):
    """A loss: when it was noticed (aware), and a sentence. Everything that is kept of it is named after that moment."""

    at: datetime
    reason: str


class LockRecord(NamedTuple):
    """What a holder notes in `lease.lock` about its database, for the next holder.

    `had_database` is whether there is one, which must not be missing. Its `generation` is never lower than this, nor is
    that `in_file`, without the journal; None if that was not noted. `loss` is what the holder itself lost.
    """

    had_database: bool = False
    generation: int | None = None
    in_file: int | None = None
    loss: Loss | None = None

    def as_json(self) -> dict[str, Any]:
        """The fields in the file."""
        lost = None
        if self.loss is not None:
            lost = {"at": self.loss.at.isoformat(), "reason": _bounded(self.loss.reason)}
        return {
            "database": self.had_database,
            "generation": self.generation,
            "in_file": self.in_file,
            "loss": lost,
        }


def _bounded(reason: str) -> str:
    bounded = clean(reason, _MOST_REASON)
    while len(json.dumps(bounded)) > _MOST_REASON_BYTES:
        bounded = clean(bounded, len(bounded) * 3 // 4)
    return bounded


NOTHING_NOTED = LockRecord()


def read_lock_record(content: bytes) -> LockRecord:
    """The record in the content of `lease.lock`. What cannot be understood counts as not noted."""
    try:
        record = json.loads(content)
    except (ValueError, RecursionError):
        return NOTHING_NOTED
    if not isinstance(record, dict):
        return NOTHING_NOTED
    generation, in_file = record.get("generation"), record.get("in_file")
    return LockRecord(
        had_database=record.get("database") is True,
        generation=generation if type(generation) is int else None,
        in_file=in_file if type(in_file) is int else None,
        loss=_read_loss(record.get("loss")),
    )


def _read_loss(noted: object) -> Loss | None:
    with contextlib.suppress(TypeError, KeyError, ValueError):
        at = datetime.fromisoformat(noted["at"])  # type: ignore[index]  # a TypeError if it is not a mapping
        if at.tzinfo is not None:
            return Loss(at, clean(str(noted["reason"]), _MOST_REASON))  # type: ignore[index]  # see above
    return None


def read_record(state_dir: str) -> Reading[LockRecord]:
    """What the last server noted about its database. Absent if there never was a server."""
    try:
        return Known(read_lock_record(read_file(state_dir, LOCK, MOST_RECORD)))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as fault:
        return Unknown(f"{LOCK} cannot be read ({fault.strerror or fault})")


def put_losses(connection: sqlite3.Connection, losses: Iterable[Loss]) -> None:
    """Store losses, in the caller's transaction, until `forget_losses`. One that is stored already is not repeated."""
    connection.executemany(
        "INSERT OR IGNORE INTO losses VALUES (?, ?)", [(loss.at.isoformat(), loss.reason) for loss in losses]
    )


def stored_losses(connection: sqlite3.Connection) -> tuple[Loss, ...]:
    """The losses after which sessions may still be missing, oldest first. None in a database of an earlier version."""
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'losses'").fetchone() is None:
        return ()
    found = connection.execute("SELECT at, reason FROM losses ORDER BY rowid DESC LIMIT ?", (_MOST_LOSSES,)).fetchall()
    return tuple(Loss(datetime.fromisoformat(at), reason) for at, reason in reversed(found))


def forget_losses(connection: sqlite3.Connection) -> None:
    """Remove the losses once every session that lives must have been heard."""
    connection.execute("DELETE FROM losses")


def reasons_of(losses: Iterable[Loss]) -> str | None:
    """The sentences of some losses as one, None if there are none."""
    return "; ".join(dict.fromkeys(loss.reason for loss in losses)) or None
