"""The zone whose days and hours count: the policy's, or else the machine's own, by name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from zoneinfo import ZoneInfo

from brief.core.policy.names import POLICY_FILE
from brief.core.policy.settings import Settings, expects
from brief.core.policy.validate import Fault
from brief.core.text.spelling import kind, spell, told
from brief.support.files import Stamp, stamp

_REMEDY = "set TZ or the policy's timezone to a name such as Europe/Prague"


def find_zone(name: str) -> ZoneInfo | None:
    """The zone of an IANA name; None where the machine has none of that name, or the name is a path or a folder."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def zone(
    settings: Settings, *, environ: Mapping[str, str] = os.environ, etc: Path = Path("/etc")
) -> tuple[ZoneInfo, str, Fault | None]:
    """The zone in force, its name, and the fault where the policy names one that does not exist."""
    wanted = settings.timezone
    found = None if wanted is None else find_zone(wanted)
    if wanted is not None and found is not None:
        return found, wanted, None
    machine = machine_zone(environ, etc)
    fault = None if wanted is None else _fault(wanted, machine.key)
    return machine, machine.key, fault


def machine_zone(environ: Mapping[str, str], etc: Path) -> ZoneInfo:
    """The machine's zone: `TZ`, `timezone` or the link `localtime` under `etc`, the first that is a name; else UTC."""
    for name in _names(environ, etc):
        found = find_zone(name)
        if found is not None:
            return found
    return _utc()


def _utc() -> ZoneInfo:
    """UTC, which needs no file: not even a process without descriptors is without a zone."""
    try:
        return ZoneInfo("UTC")
    except OSError:
        counts = (0, 0, 0, 0, 1, 4)  # one type of local time, and four letters of names (RFC 8536, section 3)
        content = b"TZif\0" + bytes(15) + b"".join(count.to_bytes(4) for count in counts) + bytes(6) + b"UTC\0"
        return ZoneInfo.from_file(BytesIO(content), key="UTC")


def zone_doubt(settings: Settings, *, environ: Mapping[str, str] = os.environ, etc: Path = Path("/etc")) -> str | None:
    """Why the days that count may not be those of the person: a sentence, None where a zone is named that exists.

    The policy's own zone is not judged here, since a wrong one is among the faults of the policy.
    """
    if settings.timezone is not None and find_zone(settings.timezone) is not None:
        return None
    return _machine_doubt(environ.get("TZ"), str(etc), stamp(f"{etc}/timezone"), stamp(f"{etc}/localtime"))


@lru_cache(maxsize=16)
def _machine_doubt(declared: str | None, etc: str, _timezone: Stamp | None, localtime: Stamp | None) -> str | None:
    """Kept for as long as the files are the same, since every brief asks."""
    environ = {} if declared is None else {"TZ": declared}
    named = next(_names(environ, Path(etc)), "")
    held = f"so days are those of {machine_zone(environ, Path(etc)).key}; {_REMEDY}"
    if declared is not None and find_zone(named) is None:
        return f"TZ is {told(declared)}, which is the IANA name of no zone, {held}"
    if declared is None and localtime is not None and not any(map(find_zone, _names(environ, Path(etc)))):
        return f"{etc}/localtime is no link to a zone by its name, {held}"
    return None


def _names(environ: Mapping[str, str], etc: Path) -> Iterator[str]:
    declared = environ.get("TZ")
    if declared is not None:
        # The C library reads an empty TZ as UTC, and allows a colon and a path before the name.
        yield _after_zoneinfo(declared.removeprefix(":")) or "UTC"
    with suppress(OSError):
        yield ((etc / "timezone").read_text(encoding="utf-8", errors="replace")[:200].strip())
    yield _after_zoneinfo(os.path.realpath(etc / "localtime"))


def _after_zoneinfo(path: str) -> str:
    return path.rpartition("/zoneinfo/")[2]


def _fault(wanted: str, machine: str) -> Fault:
    holds = f"the machine's zone {machine} holds"
    sentence = f"{POLICY_FILE}: timezone is {told(wanted)}; write {expects('timezone')}; {holds}"
    return Fault(POLICY_FILE, "timezone", spell(wanted), kind(wanted), sentence)
