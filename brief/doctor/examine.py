"""Every check, in the order in which they are told; one that cannot be made is itself a finding."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from brief import __version__
from brief.core.model.health import Diagnosis, Finding, fail, ok, warn
from brief.core.text.sanitize import wire
from brief.doctor import files, machine, serving
from brief.fastpath.locate import Located

_OF_A_CHECKOUT: tuple[tuple[str, Callable[[Located], Finding]], ...] = (
    ("state", files.state),
    ("lease", serving.lease),
    ("server", serving.server),
    ("socket", serving.socket),
    ("policy", files.policy),
    ("trust", files.trust),
    ("database", files.database),
    ("worktrees", machine.listed),
    ("disk", files.disk),
)
_OF_THE_MACHINE: tuple[tuple[str, Callable[[Located | None], Finding]], ...] = (
    ("runtime", serving.runtime),
    ("git", machine.git),
    ("zones", machine.zones),
    ("descriptors", lambda _: machine.descriptors()),
)


def examine(here: Located | None, absence: str, now: datetime) -> Diagnosis:
    """Make every check; where there is no checkout, `absence` is why, and only the machine is looked at."""
    place = ok("repository", here.root) if here else fail("repository", absence)
    return Diagnosis(
        at=now,
        version=__version__,
        root=wire(here.root) if here else None,
        common_dir=wire(here.common_dir) if here else None,
        findings=(
            place,
            *(_made(name, check, here) if here else _unlooked(name) for name, check in _OF_A_CHECKOUT),
            *(_made(name, check, here) for name, check in _OF_THE_MACHINE),
        ),
    )


def _made(name: str, check: Callable[..., Finding], here: Located | None) -> Finding:
    try:
        return check(here)
    except Exception as fault:  # noqa: BLE001 - a doctor that falls over tells nothing of all else
        return fail(name, f"could not be looked at: {type(fault).__name__}: {fault}")


def _unlooked(name: str) -> Finding:
    return warn(name, "was not looked at, since there is no checkout here")
