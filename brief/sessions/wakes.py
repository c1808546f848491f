"""The stored wakes of every session: cadence, outbox and ledger. No other module knows their SQL.

Only one thing is kept in memory, since no other process could read it: the time of each anchor by the monotonic clock.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import DecodeError
from msgspec.structs import replace

from brief.core.model.errors import NotFoundError, StoreError
from brief.core.model.wire import Moment, Wire, from_json, from_plain, to_json
from brief.core.sessions.episode import check_id
from brief.core.wakes.rules import Instant, settle_anchor
from brief.core.wakes.state import Change, Entry, Prompt, Step, WakeState, restart_interval
from brief.sessions.database import Database

_COLUMNS = "episode, anchor, unprompted, stopped, briefed, told, prompt, paused"
_ALL_PAUSED = "wakes_paused"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class LedgerLine(Wire, frozen=True):
    """How often one event was counted for a session, and when last. `size` is the number of bytes that it read with it."""

    kind: str
    detail: str
    count: int
    size: int
    last: Moment


class Wakes:
    """The wakes of one repository's sessions. Safe to use from any thread.

    `steady` is a monotonic clock, in seconds.
    """

    def __init__(self, database: Database, steady: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._steady = steady
        self._anchors: dict[str, Instant] = {}
        self.version = 0

    def instant(self, wall: datetime) -> Instant:
        """The present instant by both clocks; `wall` is the time by the wall clock."""
        return Instant(wall, self._steady())

    def get(self, session: str) -> WakeState | None:
        """The state of one session's wakes. None if nothing has happened to it yet."""
        with self._database.read() as connection:
            return self._get(connection, session)

    def open(self) -> dict[str, WakeState]:
        """The wakes of the open episodes to which something has happened, by episode id.

        An unreadable row is left out, so that the other episodes are still woken. `get` raises StoreError for it.
        """
        with self._database.read() as connection:
            everybody = _all_paused(connection)
            names = ", ".join(f"wakes.{name}" for name in _COLUMNS.split(", "))
            found = connection.execute(
                f"SELECT {names} FROM wakes JOIN episodes ON episodes.id = wakes.episode WHERE episodes.closed IS NULL"
            ).fetchall()
        wake_states = {}
        for row in found:
            with contextlib.suppress(StoreError):
                wake_states[row[0]] = self._wake_state(row, everybody)
        for session in list(self._anchors):
            if session not in wake_states:  # closed meanwhile, and would be kept in memory for ever
                self._anchors.pop(session, None)
        return wake_states

    def change(self, session: str, now: datetime, step: Step, *, durable: bool = False) -> Change:
        """Apply one step to the wakes of an episode, and add to its ledger. If nothing has happened yet, they start `now`.

        A step whose result a person has seen is `durable`; otherwise a power cut may undo the last step of a heartbeat.

        Raises NotFoundError if no such episode was ever opened here, UsageError if it is not a valid id.
        """
        instant = self.instant(now)
        with self._database.write(durable=durable) as connection:
            before = self._get(connection, session)
            known = before or _begin(connection, session, instant)
            after, entries = step(replace(known, anchor=settle_anchor(known.anchor, instant)))
            if after != before:
                _write_row(connection, session, after)
                self._anchors[session] = after.anchor
                self.version += 1
            for entry in entries:
                _count(connection, session, entry, now)
        return after, entries

    def begin_anew(self, session: str, now: datetime) -> None:
        """Restart the interval of an episode that was reopened: no wake was due while it was closed, so none was missed."""
        if self.get(session) is not None:
            instant = self.instant(now)
            self.change(session, now, lambda wake_state: restart_interval(wake_state, instant))

    def pause_all(self, now: datetime) -> None:
        """Pause the wakes of the whole repository. If they are already paused, the time of the first pause is kept."""
        with self._database.write() as connection:
            since = (now - _EPOCH) // _MICROSECOND
            connection.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (_ALL_PAUSED, since))
            self.version += 1

    def resume_all(self) -> None:
        """Resume the wakes of the repository. A session that was paused individually stays paused."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM meta WHERE key = ?", (_ALL_PAUSED,))
            self.version += 1

    def all_paused(self) -> datetime | None:
        """Since when the wakes of the whole repository are paused. None if they are not."""
        with self._database.read() as connection:
            return _all_paused(connection)

    def ledger(self, session: str) -> tuple[LedgerLine, ...]:
        """The ledger of a session, sorted by kind and detail."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT kind, detail, count, size, last FROM ledger WHERE episode = ? ORDER BY kind, detail", (session,)
            ).fetchall()
        names = LedgerLine.__struct_fields__
        return tuple(from_plain(LedgerLine, dict(zip(names, row, strict=True))) for row in rows)

    def _get(self, connection: sqlite3.Connection, session: str) -> WakeState | None:
        row = connection.execute(f"SELECT {_COLUMNS} FROM wakes WHERE episode = ?", (session,)).fetchone()
        return self._wake_state(row, _all_paused(connection)) if row else None

    def _wake_state(self, row: tuple[Any, ...], all_paused: datetime | None) -> WakeState:
        fields = dict(zip(_COLUMNS.split(", "), row, strict=True))
        try:
            anchor = datetime.fromisoformat(fields["anchor"])
            known = self._anchors.get(fields["episode"])
            return WakeState(
                anchor=known if known is not None and known.wall == anchor else Instant(anchor),
                unprompted=fields["unprompted"],
                stopped=bool(fields["stopped"]),
                briefed=_parse_time(fields["briefed"]),
                facts_read=fields["told"],
                prompt=from_json(Prompt, fields["prompt"]) if fields["prompt"] else None,
                paused=_parse_time(fields["paused"]),
                all_paused=all_paused,
            )
        except (DecodeError, ValueError) as fault:
            raise StoreError(
                f"the stored wakes of {fields['episode']} cannot be read; move majordomus.db away"
            ) from fault


def _begin(connection: sqlite3.Connection, session: str, now: Instant) -> WakeState:
    """The initial wakes of an episode. Raises NotFoundError if it was never opened, UsageError if it is not a valid id."""
    if connection.execute("SELECT 1 FROM episodes WHERE id = ?", (check_id(session),)).fetchone() is None:
        raise NotFoundError(f"no episode {session} was ever opened here; majordomus episode open opens it")
    return WakeState(anchor=now, all_paused=_all_paused(connection))


def _write_row(connection: sqlite3.Connection, session: str, wake_state: WakeState) -> None:
    values = (
        session,
        wake_state.anchor.wall.isoformat(),
        wake_state.unprompted,
        int(wake_state.stopped),
        wake_state.briefed and wake_state.briefed.isoformat(),
        wake_state.facts_read,
        wake_state.prompt and to_json(wake_state.prompt),
        wake_state.paused and wake_state.paused.isoformat(),
    )
    connection.execute(f"INSERT OR REPLACE INTO wakes ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)


def _count(connection: sqlite3.Connection, session: str, entry: Entry, now: datetime) -> None:
    connection.execute(
        "INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (episode, kind, detail) DO UPDATE SET "
        "count = count + excluded.count, size = size + excluded.size, last = excluded.last",
        (session, entry.kind, entry.detail, entry.count, entry.size, now.isoformat()),
    )


def _all_paused(connection: sqlite3.Connection) -> datetime | None:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (_ALL_PAUSED,)).fetchone()
    return _EPOCH + row[0] * _MICROSECOND if row else None


def _parse_time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
