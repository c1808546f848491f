"""Checks of files: the state folder, policy, trust file and database, and the disk that holds them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from brief.core.model.errors import GitError, StoreError
from brief.core.model.health import (
    Finding,
    fail,
    judge_database,
    judge_notices,
    judge_policy,
    judge_space,
    judge_trust,
    ok,
    warn,
)
from brief.core.notices.unread import Unread
from brief.core.policy.names import UNREAD
from brief.core.text.sanitize import clean, to_wire
from brief.fastpath.lease import state_dir
from brief.fastpath.locate import Located
from brief.git.worktrees import list_worktrees
from brief.notices.store import NoticeStore
from brief.policy import SEE_CHECK, PolicyStatus, describe_source, read_policy
from brief.sections.context import SectionQuery
from brief.sections.notice_folders import notice_folders
from brief.server.lease import DATABASE
from brief.sessions.database import check_integrity
from brief.sessions.recovery import kept_aside
from brief.support.state_folder import UnprovenStateError, refuse_unproven
from brief.trust import Trust, apply_trust, needs_trust

_MOST_WORKTREES = 20


def check_policy(here: Located) -> Finding:
    """Check the policy in force in the checkout."""
    return _judge(here.root, here.common_dir)


def check_other_worktrees(here: Located) -> Iterator[Finding]:
    """Check the policy in force in each other checkout. Nothing if git cannot list them, which another check reports."""
    with contextlib.suppress(GitError):
        listed = list_worktrees(here.common_dir)
        others = [one for one in listed if one.root != here.root and not one.bare and not one.gone]
        for one in others[:_MOST_WORKTREES]:
            found = _judge(one.root, here.common_dir)
            yield found.replace(name="worktree", sentence=f"{clean(to_wire(one.root), 300)}: policy {found.sentence}")
        more = len(others) - _MOST_WORKTREES
        if more > 0:
            yield ok("worktree", f"{more} more were not checked; run majordomus doctor in each of them")


def _judge(root: str, common_dir: str) -> Finding:
    found = read_policy(root, common_dir)
    return judge_policy(
        [fault.sentence for fault in found.faults],
        to_wire(describe_source(found)),
        readable=not found.is_unread,
        present=found.status is not PolicyStatus.ABSENT,
    )


def check_trust(here: Located) -> Finding:
    """Check the trust file, and whether everything that the policy asks for is trusted."""
    granted = Trust.of_person(here.common_dir)
    found = read_policy(here.root, here.common_dir)
    if found.is_unread and granted.fault is None:
        return warn("trust", f"what needs trust is unknown: {UNREAD}; {SEE_CHECK}")
    needed = needs_trust(found.settings, here.root)
    untrusted = [f"{key} {value}" for key, value in needed if not granted.is_trusted(here.common_dir, key, value)]
    return judge_trust(granted.fault, untrusted)


def check_notices(here: Located) -> Finding:
    """Check that every notice can be read, in the folders that a brief of the checkout looks into."""
    folder = state_dir(here.common_dir)
    settings = apply_trust(
        read_policy(here.root, here.common_dir).settings, Trust.of_person(here.common_dir), here.common_dir, here.root
    ).settings
    try:
        refuse_unproven(folder)
    except UnprovenStateError:
        return warn("notices", "were not checked, because the state folder is not proven to be yours")
    found = NoticeStore(notice_folders(folder, SectionQuery(root=here.root, settings=settings))).read()
    unread = Unread(found.unparsable, found.folders_unread)
    return judge_notices(len(found.notices), unread.reasons)


def check_state(here: Located) -> Finding:
    """Check that the state folder and everything in it belong to the user."""
    folder = state_dir(here.common_dir)
    try:
        refuse_unproven(folder)
    except UnprovenStateError as fault:
        return fail("state", fault.sentence)
    return ok("state", f"{folder} is yours alone" if os.path.isdir(folder) else f"{folder} does not exist yet")


def check_database(here: Located) -> Finding:
    """Check that the database can be read and is not damaged."""
    path = Path(state_dir(here.common_dir)) / DATABASE
    try:
        refuse_unproven(str(path.parent))
    except UnprovenStateError:
        return warn("database", "was not checked, because its folder is not proven to be yours")
    aside = kept_aside(path)
    if aside:
        return judge_database(str(path), "; ".join(aside), present=True)
    if not os.path.lexists(path):
        return judge_database(str(path), None, present=False)
    try:
        damage = check_integrity(path)
    except StoreError as fault:
        return judge_database(str(path), fault.sentence, present=True)
    remedy = f"{path} is damaged ({damage}); stop the server, move the file away and run majordomus serve ensure"
    return judge_database(str(path), remedy if damage else None, present=True)


def check_disk(here: Located) -> Finding:
    """Check the space that is left for the state of the repository."""
    folder = state_dir(here.common_dir)
    found = os.statvfs(folder if os.path.isdir(folder) else here.common_dir)
    # Some file systems, such as btrfs, create inodes on demand and report a count of zero.
    return judge_space(folder, found.f_bavail * found.f_frsize, found.f_favail if found.f_files else None)
