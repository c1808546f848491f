"""The sessions that Claude Code itself records, as `sessions/<pid>.json` in its configuration folder.

The format is undocumented: unknown fields are ignored, and those that are used are checked strictly. Nothing is written,
and the keys that lie beside the records are never opened.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from msgspec import DecodeError, Meta, Struct

from brief.core.model.errors import UsageError
from brief.core.model.first_fault import first_fault
from brief.core.model.section_data import EpisodeState
from brief.core.model.wire import from_json
from brief.core.sessions.episode import check_id
from brief.core.sessions.presence import Seen, SeenByCheckout, SeenSession, find_deepest
from brief.core.text.sanitize import clean, to_wire
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.fastpath.locate import read_small
from brief.fastpath.process import process_start
from brief.support.files import Stamp, UnreadableFileError, read_bounded, reason_of, stamp_of
from brief.support.home import home_folder
from brief.support.stat_cache import StatCache

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

MOST_RECORDS = 1_000
MOST_BYTES = 16_384
"""The largest record that is read, in bytes. The client's own have about 600."""

_NAME = re.compile(r"[1-9][0-9]{0,9}\.json")
_STATES = {"idle": EpisodeState.IDLE, "busy": EpisodeState.BUSY, "waiting": EpisodeState.WAITING}
_LONGEST_PATH = 4_096
_LINUX = "linux:"
_MOST_REASON = 400


def client_folder(environ: Mapping[str, str] = os.environ) -> str:
    """The person's configuration folder of Claude Code."""
    named = environ.get("CLAUDE_CONFIG_DIR", "")
    return named if os.path.isabs(named) else str(home_folder(environ) / ".claude")


def seen_folder(environ: Mapping[str, str] = os.environ) -> str:
    """Where Claude Code records its sessions."""
    return os.path.join(client_folder(environ), "sessions")


class _Record(Struct, frozen=True, rename="camel"):
    """The fields of a record that are used, strictly typed. Clients too old to be identified write no `procStart`."""

    pid: Annotated[int, Meta(gt=0)]
    session_id: str
    cwd: Annotated[str, Meta(min_length=1, max_length=_LONGEST_PATH)]
    started_at: Annotated[int, Meta(gt=0, lt=10_000_000_000_000, description="milliseconds since 1970")]
    proc_start: Annotated[str, Meta(min_length=1)]
    pid_domain: str | None = None
    status: str | None = None
    name: str | None = None


class _Kept(Struct, frozen=True):
    """A record as it was read: the session, and what identifies its process."""

    session: SeenSession
    start: str
    domain: str | None


class SeenSessions:
    """The sessions recorded in a folder. Thread safe. An unchanged record costs one stat, and one read of its process."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._parsed: StatCache[str, _Kept | Unknown] = StatCache(MOST_RECORDS)

    def read(self) -> Seen:
        """The sessions whose processes run, or may run, as the files are now.

        If the folder is absent, no such client was ever run and there are none. Of several records of one session the
        latest counts. The age of a file proves nothing, since the client does not rewrite it during a long turn.
        """
        stamps, unread = self._list_stamps()
        domain = _own_domain()
        kept = self._read_records(stamps)
        known = [record.value for record in kept.values() if isinstance(record, Known)]
        living = (session for record in known for session in _keep_living(record, domain))
        latest = {session.id: session for session in sorted(living, key=lambda session: session.since)}
        faults = {name: record.reason for name, record in kept.items() if isinstance(record, Unknown)}
        gaps = (unread, _describe_faults(self.folder, {n: why for n, why in faults.items() if _may_be_of_living(n)}))
        return Seen(
            sessions=tuple(sorted(latest.values(), key=lambda one: (one.since, one.id))),
            unread="; ".join(gap for gap in gaps if gap) or None,
        )

    def signature(self) -> Hashable:
        """A value that stays equal while no record is added, changed or removed."""
        stamps, unread = self._list_stamps()
        return tuple(sorted(stamps.items())), unread

    def _list_stamps(self) -> tuple[dict[str, Stamp], str | None]:
        """The stamps of the files that are named like records, and why some or all of them could not be read."""
        try:
            with os.scandir(self.folder) as entries:
                return _stamp_records(entries, self.folder)
        except (FileNotFoundError, NotADirectoryError):
            return {}, None
        except (OSError, ValueError) as error:
            return {}, f"{clean(to_wire(self.folder))} cannot be listed: {reason_of(error)}"

    def _read_records(self, stamps: Mapping[str, Stamp]) -> dict[str, Reading[_Kept]]:
        """The records, by file name."""
        records = {name: self.record(name, found) for name, found in stamps.items()}
        self._parsed.keep_only(records)
        return records

    def record(self, name: str, found: Stamp | None) -> Reading[_Kept]:
        """The record in a file that has this stamp. Absent if the file has gone, unknown if it is not a valid record."""
        path = f"{self.folder}/{name}"
        try:
            parsed = self._parsed.get(name, found, lambda: _parse_record(path))
        except FileNotFoundError:
            return ABSENT
        except UnreadableFileError as fault:
            return Unknown(str(fault))
        return parsed if isinstance(parsed, Unknown) else Known(parsed)


def group_by_checkout(seen: Seen, roots: Iterable[str]) -> SeenByCheckout:
    """Group sessions by the checkout in whose folder they work, None for those outside all `roots`.

    Real paths are compared, and the deepest root counts. Checkouts are spelled as on the wire.
    """
    if not seen.sessions:
        return {}
    real = {os.path.realpath(root): to_wire(root) for root in roots}
    found: dict[str | None, list[SeenSession]] = {}
    for session in seen.sessions:
        found.setdefault(find_deepest(os.path.realpath(session.cwd), real), []).append(session)
    return {checkout: tuple(sessions) for checkout, sessions in found.items()}


# ---------------------------------------------------------------- one record


def _stamp_records(entries: Iterable[os.DirEntry[str]], folder: str) -> tuple[dict[str, Stamp], str | None]:
    """The stamps of the files that are named like records, and why some of them could not be read."""
    stamps: dict[str, Stamp] = {}
    unread = None
    for entry in entries:
        if not _NAME.fullmatch(entry.name):
            continue
        if len(stamps) == MOST_RECORDS:
            return stamps, f"{clean(to_wire(folder))} holds more than {MOST_RECORDS:,} records and was read in part"
        try:
            stamps[entry.name] = stamp_of(entry.stat(follow_symlinks=False))
        except FileNotFoundError:
            continue
        except OSError as fault:
            unread = f"{clean(to_wire(folder))}/{entry.name} cannot be accessed: {reason_of(fault)}"
    return stamps, unread


def _parse_record(path: str) -> _Kept | Unknown:
    """Read the record in a file, unknown if it is not valid. Raises FileNotFoundError and UnreadableFileError."""
    try:
        record = from_json(_Record, read_bounded(path, MOST_BYTES))
        session = SeenSession(
            id=check_id(record.session_id),
            provider="claude-code",
            cwd=record.cwd,
            state=_STATES.get(record.status or "", EpisodeState.UNKNOWN),
            since=datetime.fromtimestamp(record.started_at / 1000, UTC),
            name=clean(record.name) or None if record.name is not None else None,
            pid=record.pid,
        )
    except DecodeError as fault:
        return Unknown(f"is not a valid record: {first_fault(fault)}")
    except UsageError as fault:
        return Unknown(str(fault))
    if os.path.basename(path) != f"{record.pid}.json":
        return Unknown(f"names process {record.pid}")
    if not record.cwd.startswith("/") or "\0" in record.cwd:
        return Unknown("names no folder")
    return _Kept(session, record.proc_start, record.pid_domain)


def _may_be_of_living(name: str) -> bool:
    """Whether a record with this file name may belong to a running client: its process number is not proven free."""
    return process_start(int(name.removesuffix(".json"))) is not ABSENT


def _describe_faults(folder: str, faults: Mapping[str, str]) -> str | None:
    """A sentence about the records that could not be read: how many, and what is wrong with the first. None if none."""
    if not faults:
        return None
    name, why = min(faults.items())
    more = f", and {len(faults) - 1} more could not be read" if len(faults) > 1 else ""
    return clean(f"{to_wire(folder)}/{name} may be the record of a session: it {why}{more}", _MOST_REASON)


def _keep_living(record: _Kept, domain: str) -> Iterator[SeenSession]:
    """Yield the session of a record, unless its process is proven gone. If that is unknown, so is its state.

    A process number means nothing outside its own process table: nothing is known about another machine or container.
    """
    session = record.session
    found = process_start(session.pid) if record.domain in (None, domain) else Unknown("another process table")
    if isinstance(found, Unknown):
        yield session.replace(state=EpisodeState.UNKNOWN)
    elif isinstance(found, Known) and str(found.value) == record.start:
        yield session


def _own_domain() -> str:
    """The process table of this process, as Claude Code names it: the machine and the namespace."""
    if not sys.platform.startswith("linux"):
        return sys.platform
    machine = (read_small("/etc/machine-id") or "").strip()
    namespace = ""
    with suppress(OSError):
        namespace = os.readlink("/proc/self/ns/pid")
    return f"{_LINUX}{machine}:{namespace}"
