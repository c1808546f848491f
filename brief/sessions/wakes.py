"""The wakes of every session as they are stored: cadence, outbox and ledger; the only module that knows their SQL.

Nothing is kept in memory but what no other process could read: where each anchor lies by the steady clock.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError

from brief.core.model.errors import NotFoundError, StoreError
from brief.core.model.wire import Moment, Wire
from brief.core.sessions.episode import checked_id
from brief.core.wakes.rules import Instant, settled
from brief.core.wakes.state import Change, Entry, Prompt, Step, WakeState, begun_anew
from brief.sessions.database import Database

_WAKING = "episode, anchor, unprompted, stopped, briefed, told, prompt, paused"
_ALL_PAUSED = "wakes_paused"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class LedgerLine(Wire):
    """What was counted of one session under one name, and when last; `size` are the bytes that it read with it."""

    kind: str
    detail: str
    count: int
    size: int
    last: Moment


class Wakes:
    """The wakes of one repository's sessions. Safe to use from any thread.

    `steady` gives seconds by a clock that is never set.
    """

    def __init__(self, database: Database, steady: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._steady = steady
        self._anchors: dict[str, Instant] = {}
        self.version = 0

    def instant(self, wall: datetime) -> Instant:
        """The moment that the wall clock gives, by both clocks."""
        return Instant(wall, self._steady())

    def get(self, session: str) -> WakeState | None:
        """How the wakes of one session stand; None where nothing happened to it yet."""
        with self._database.read() as connection:
            return self._get(connection, session)

    def open(self) -> dict[str, WakeState]:
        """How the wakes of the open episodes stand, of each to which something happened, by episode id.

        One whose row cannot be read is left out: asked for by itself it raises StoreError, and it keeps no other from
        being woken.
        """
        with self._database.read() as connection:
            everybody = _all_paused(connection)
            names = ", ".join(f"wakes.{name}" for name in _WAKING.split(", "))
            found = connection.execute(
                f"SELECT {names} FROM wakes JOIN episodes ON episodes.id = wakes.episode WHERE episodes.closed IS NULL"
            ).fetchall()
        wake_states = {}
        for row in found:
            with contextlib.suppress(StoreError):
                wake_states[row[0]] = self._wake_state(row, everybody)
        for session in list(self._anchors):
            if session not in wake_states:  # closed meanwhile, and its memory would be kept for ever
                self._anchors.pop(session, None)
        return wake_states

    def change(self, session: str, now: datetime, step: Step, *, durable: bool = False) -> Change:
        """Do one thing to the wakes of an episode, and count it; one that nothing happened to begins at `now`.

        `durable` is what a person was told of; without it a power cut may undo the last that a heartbeat did.

        Raises NotFoundError where no such episode was ever opened here, UsageError where none can have such an id.
        """
        instant = self.instant(now)
        with self._database.write(durable=durable) as connection:
            before = self._get(connection, session)
            known = before or _begun(connection, session, instant)
            after, entries = step(replace(known, anchor=settled(known.anchor, instant)))
            if after != before:
                _put(connection, session, after)
                self._anchors[session] = after.anchor
                self.version += 1
            for entry in entries:
                _count(connection, session, entry, now)
        return after, entries

    def begin_anew(self, session: str, now: datetime) -> None:
        """Let an interval go by before the next wake of an episode that is open again: nobody missed what was not due."""
        if self.get(session) is not None:
            instant = self.instant(now)
            self.change(session, now, lambda wake_state: begun_anew(wake_state, instant))

    def pause_all(self, now: datetime) -> None:
        """Wake no session of the repository any more; where that is so already, it is so since then."""
        with self._database.write() as connection:
            since = (now - _EPOCH) // _MICROSECOND
            connection.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (_ALL_PAUSED, since))
            self.version += 1

    def resume_all(self) -> None:
        """Wake the sessions of the repository again, but for those that are paused by themselves."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM meta WHERE key = ?", (_ALL_PAUSED,))
            self.version += 1

    def all_paused(self) -> datetime | None:
        """Since when no session of the repository is woken."""
        with self._database.read() as connection:
            return _all_paused(connection)

    def ledger(self, session: str) -> tuple[LedgerLine, ...]:
        """What was counted of a session, in the order of kinds and details."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT kind, detail, count, size, last FROM ledger WHERE episode = ? ORDER BY kind, detail", (session,)
            ).fetchall()
        names = tuple(LedgerLine.model_fields)
        return tuple(LedgerLine.model_validate(dict(zip(names, row, strict=True))) for row in rows)

    def _get(self, connection: sqlite3.Connection, session: str) -> WakeState | None:
        row = connection.execute(f"SELECT {_WAKING} FROM wakes WHERE episode = ?", (session,)).fetchone()
        return self._wake_state(row, _all_paused(connection)) if row else None

    def _wake_state(self, row: tuple[Any, ...], all_paused: datetime | None) -> WakeState:
        fields = dict(zip(_WAKING.split(", "), row, strict=True))
        try:
            anchor = datetime.fromisoformat(fields["anchor"])
            known = self._anchors.get(fields["episode"])
            return WakeState(
                anchor=known if known is not None and known.wall == anchor else Instant(anchor),
                unprompted=fields["unprompted"],
                stopped=bool(fields["stopped"]),
                briefed=_moment(fields["briefed"]),
                told=fields["told"],
                prompt=Prompt.model_validate_json(fields["prompt"]) if fields["prompt"] else None,
                paused=_moment(fields["paused"]),
                all_paused=all_paused,
            )
        except (ValidationError, ValueError) as fault:
            raise StoreError(
                f"the stored wakes of {fields['episode']} cannot be read; move majordomus.db away"
            ) from fault


def _begun(connection: sqlite3.Connection, session: str, now: Instant) -> WakeState:
    """The wakes of an episode to which nothing happened yet; raises UsageError where no episode can have that id."""
    if connection.execute("SELECT 1 FROM episodes WHERE id = ?", (checked_id(session),)).fetchone() is None:
        raise NotFoundError(f"no episode {session} was ever opened here; majordomus episode open opens it")
    return WakeState(anchor=now, all_paused=_all_paused(connection))


def _put(connection: sqlite3.Connection, session: str, wake_state: WakeState) -> None:
    values = (
        session,
        wake_state.anchor.wall.isoformat(),
        wake_state.unprompted,
        int(wake_state.stopped),
        wake_state.briefed and wake_state.briefed.isoformat(),
        wake_state.told,
        wake_state.prompt and wake_state.prompt.model_dump_json(),
        wake_state.paused and wake_state.paused.isoformat(),
    )
    connection.execute(f"INSERT OR REPLACE INTO wakes ({_WAKING}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)


def _count(connection: sqlite3.Connection, session: str, entry: Entry, now: datetime) -> None:
    connection.execute(
        "INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (episode, kind, detail) DO UPDATE SET "
        "count = count + excluded.count, size = size + excluded.size, last = excluded.last",
        (session, entry.kind, entry.detail, entry.count, entry.size, now.isoformat()),
    )


def _all_paused(connection: sqlite3.Connection) -> datetime | None:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (_ALL_PAUSED,)).fetchone()
    return _EPOCH + row[0] * _MICROSECOND if row else None


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
