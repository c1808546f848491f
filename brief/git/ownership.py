"""Ask git whether this user may work in a repository whose git folder belongs to somebody else."""

from __future__ import annotations

import os

from brief.core.model.errors import GitError
from brief.fastpath.locate import accepted_roots
from brief.fastpath.proof import accepted

_SECONDS = 1.0


def accept_by_git(common_dir: str, root: str) -> bool:
    """Ask git whether it accepts another user's git folder, and remember a yes for this process.

    Git accepts a folder that `safe.directory` names in the configuration of the system or the user; no other
    configuration counts. If git cannot be asked, the folder is not accepted.
    """
    try:
        is_own = os.stat(common_dir).st_uid == os.geteuid()
    except OSError:
        return False
    if is_own or common_dir in accepted:
        return not is_own
    if not _is_accepted(root):
        return False
    accepted.add(common_dir)
    return True


def accept_root_by_git(root: str) -> bool:
    """Ask git whether it accepts another user's work tree, and remember a yes for this process."""
    if not _is_accepted(root):
        return False
    accepted_roots.add(root)
    return True


def _is_accepted(root: str) -> bool:
    from brief.git.command import run  # noqa: PLC0415 - needed only for folders of somebody else

    try:
        run(["rev-parse", "--git-dir"], root, deadline_s=_SECONDS)
    except GitError:
        return False
    return True
