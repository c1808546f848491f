"""The zone whose days and hours count: the policy's, or else the machine's own, by name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from zoneinfo import ZoneInfo

from brief.core.policy.settings import POLICY_FILE, Settings, expects
from brief.core.policy.validate import Fault
from brief.core.text.spelling import kind, spell, told


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
    return ZoneInfo("UTC")


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
