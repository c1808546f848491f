"""The time zone in force: the policy's, else the machine's."""

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
from brief.core.text.spelling import describe_value, name_type, spell
from brief.support.files import Stamp, stamp_file

_REMEDY = "set TZ or the policy's timezone to a name such as Europe/Prague"


def find_zone(name: str) -> ZoneInfo | None:
    """The zone with an IANA name. None if the machine has no such zone, or the name is a path or a folder."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def find_zone_in_force(
    settings: Settings, *, environ: Mapping[str, str] = os.environ, etc: Path = Path("/etc")
) -> tuple[ZoneInfo, str, Fault | None]:
    """The zone in force, its name, and a fault if the policy names one that does not exist."""
    wanted = settings.timezone
    found = None if wanted is None else find_zone(wanted)
    if wanted is not None and found is not None:
        return found, wanted, None
    machine = machine_zone(environ, etc)
    fault = None if wanted is None else _make_fault(wanted, machine.key)
    return machine, machine.key, fault


def machine_zone(environ: Mapping[str, str], etc: Path) -> ZoneInfo:
    """The machine's zone: the first of `TZ`, `etc/timezone` and the link `etc/localtime` that names one, else UTC."""
    for name in _zone_names(environ, etc):
        found = find_zone(name)
        if found is not None:
            return found
    return _make_utc()


def _make_utc() -> ZoneInfo:
    """UTC, which needs no file, so that even a process without free descriptors has a zone."""
    try:
        return ZoneInfo("UTC")
    except OSError:
        counts = (0, 0, 0, 0, 1, 4)  # one type of local time, and four letters of names (RFC 8536, section 3)
        content = b"TZif\0" + bytes(15) + b"".join(count.to_bytes(4) for count in counts) + bytes(6) + b"UTC\0"
        return ZoneInfo.from_file(BytesIO(content), key="UTC")


def zone_doubt(settings: Settings, *, environ: Mapping[str, str] = os.environ, etc: Path = Path("/etc")) -> str | None:
    """A sentence that says why the zone in force may not be the person's. None if an existing zone is configured.

    A wrong zone in the policy is not reported here, since it is a fault of the policy.
    """
    if settings.timezone is not None and find_zone(settings.timezone) is not None:
        return None
    return _machine_doubt(environ.get("TZ"), str(etc), stamp_file(f"{etc}/timezone"), stamp_file(f"{etc}/localtime"))


@lru_cache(maxsize=16)
def _machine_doubt(declared: str | None, etc: str, _timezone: Stamp | None, localtime: Stamp | None) -> str | None:
    """Cached while the files stay the same, since every brief asks."""
    environ = {} if declared is None else {"TZ": declared}
    named = next(_zone_names(environ, Path(etc)), "")
    used = f"so {machine_zone(environ, Path(etc)).key} is used; {_REMEDY}"
    if declared is not None and find_zone(named) is None:
        return f"TZ is {describe_value(declared)}, which is not the IANA name of a zone, {used}"
    if declared is None and localtime is not None and not any(map(find_zone, _zone_names(environ, Path(etc)))):
        return f"{etc}/localtime is not a link to a named zone, {used}"
    return None


def _zone_names(environ: Mapping[str, str], etc: Path) -> Iterator[str]:
    declared = environ.get("TZ")
    if declared is not None:
        # The C library reads an empty TZ as UTC, and accepts a colon and a path before the name.
        yield _after_zoneinfo(declared.removeprefix(":")) or "UTC"
    with suppress(OSError):
        yield ((etc / "timezone").read_text(encoding="utf-8", errors="replace")[:200].strip())
    yield _after_zoneinfo(os.path.realpath(etc / "localtime"))


def _after_zoneinfo(path: str) -> str:
    return path.rpartition("/zoneinfo/")[2]


def _make_fault(wanted: str, machine: str) -> Fault:
    used = f"the machine's zone {machine} is used"
    sentence = f"{POLICY_FILE}: timezone is {describe_value(wanted)}; write {expects('timezone')}; {used}"
    return Fault(POLICY_FILE, "timezone", spell(wanted), name_type(wanted), sentence)
