"""Checks of the machine: git and the checkouts that it lists, time zones, limits."""

from __future__ import annotations

import re
import resource

from brief.core.model.errors import GitError
from brief.core.model.health import Finding, fail, judge_descriptors, judge_git, judge_worktrees, judge_zones
from brief.core.policy.names import UNREAD
from brief.core.policy.settings import Settings
from brief.fastpath.known import Known, Unknown
from brief.fastpath.locate import Located
from brief.git.command import OLDEST, run
from brief.git.worktree_entries import unlisted_entries
from brief.git.worktrees import list_worktrees
from brief.policy import SEE_CHECK, read_policy
from brief.support.zone import find_zone, find_zone_in_force, zone_doubt

_ANY_ZONE = "America/New_York"


def check_git(here: Located | None) -> Finding:
    """Check the version of the git on PATH."""
    try:
        printed = run(["--version"], here.root if here else "/").decode("utf-8", "replace").strip()
    except GitError as fault:
        return fail("git", fault.sentence)
    found = re.search(r"(\d+)\.(\d+)", printed)
    return judge_git((int(found[1]), int(found[2])) if found else None, printed, OLDEST)


def check_zones(here: Located | None) -> Finding:
    """Check the time zone in force. A zone that does not exist is a fault of the policy, which drops the key."""
    policy = read_policy(here.root, here.common_dir) if here else None
    settings = policy.settings if policy else Settings()
    fault = next((one.sentence for one in policy.faults if one.key == "timezone"), None) if policy else None
    _, name, unknown = find_zone_in_force(settings)
    if policy is not None and policy.is_unread:
        fault = f"timezone is unknown: {UNREAD}, so {name} is used; {SEE_CHECK}"
    doubt = fault or (unknown.sentence if unknown else zone_doubt(settings))
    return judge_zones(name, doubt, has_tzdata=find_zone(_ANY_ZONE) is not None)


def check_worktrees(here: Located) -> Finding:
    """Check the checkouts that git lists."""
    try:
        checkouts = list_worktrees(here.common_dir)
    except GitError as fault:
        return fail("worktrees", f"{fault.sentence}; try git fsck and git worktree repair")
    unlisted = unlisted_entries(here.common_dir, checkouts)
    lost = [one for one in checkouts if not one.bare and (one.gone or one.prunable is not None)]
    return judge_worktrees(
        len(checkouts),
        [one.root for one in lost if one.locked is None],
        [one.root for one in lost if one.locked is not None],
        unlisted.value if isinstance(unlisted, Known) else (),
        unlisted.reason if isinstance(unlisted, Unknown) else None,
    )


def check_descriptors() -> Finding:
    """Check how many files a server started from here may open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return judge_descriptors(None if soft == resource.RLIM_INFINITY else soft)
