"""All checks, in the order of the report. A check that fails to run is itself a finding."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from brief import __version__
from brief.core.model.health import Diagnosis, Finding, fail, ok, warn
from brief.core.text.sanitize import to_wire
from brief.doctor import files, machine, serving
from brief.fastpath.locate import Located

_CHECKOUT_CHECKS: tuple[tuple[str, Callable[[Located], Finding]], ...] = (
    ("state", files.check_state),
    ("lease", serving.check_lease),
    ("server", serving.check_server),
    ("socket", serving.check_socket),
    ("policy", files.check_policy),
    ("trust", files.check_trust),
    ("database", files.check_database),
    ("notices", files.check_notices),
    ("worktrees", machine.check_worktrees),
    ("disk", files.check_disk),
)
_MACHINE_CHECKS: tuple[tuple[str, Callable[[Located | None], Finding]], ...] = (
    ("runtime", serving.check_runtime),
    ("git", machine.check_git),
    ("zones", machine.check_zones),
    ("descriptors", lambda _: machine.check_descriptors()),
)


def examine(here: Located | None, absence: str, now: datetime) -> Diagnosis:
    """Run all checks. Without a checkout, `absence` says why there is none, and only the machine is checked."""
    place = ok("repository", here.root) if here else fail("repository", absence)
    return Diagnosis(
        at=now,
        version=__version__,
        root=to_wire(here.root) if here else None,
        common_dir=to_wire(here.common_dir) if here else None,
        findings=(
            place,
            *(_run(name, check, here) if here else _skip(name) for name, check in _CHECKOUT_CHECKS),
            *(files.check_other_worktrees(here) if here else ()),
            *(_run(name, check, here) for name, check in _MACHINE_CHECKS),
        ),
    )


def _run(name: str, check: Callable[..., Finding], here: Located | None) -> Finding:
    try:
        return check(here)
    except Exception as fault:  # noqa: BLE001 - one failing check must not hide the others
        return fail(name, f"could not be checked: unexpected {type(fault).__name__}: {fault}")


def _skip(name: str) -> Finding:
    return warn(name, "was not checked, because there is no checkout here")
