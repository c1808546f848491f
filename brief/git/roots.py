"""The first commits of a repository, by which its clones know each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brief.core.model.errors import GitError
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.git.command import GitTimeoutError, run, seat
from brief.git.head import read_head

if TYPE_CHECKING:
    from brief.fastpath.known import Reading


def root_commits(common_dir: str, deadline_s: float) -> Reading[frozenset[str]]:
    """The full names of the commits without a parent that the primary checkout's HEAD descends from.

    Absent before the first commit. A shallow clone's history begins where it was cut. git walks all of the history,
    which takes seconds where there are millions of commits: raises GitTimeoutError after `deadline_s`.
    """
    try:
        # What HEAD names may not be there yet; that is no fault.
        listed = run(
            ["rev-list", "--max-parents=0", "--ignore-missing", "HEAD", "--"], seat(common_dir), deadline_s=deadline_s
        )
    except GitTimeoutError:
        raise
    except GitError as fault:
        return Unknown(fault.sentence)
    roots = frozenset(listed.decode("ascii").split())
    if roots:
        return Known(roots)
    # git lists nothing for a branch that has no commit yet, nor for one whose commit it cannot find.
    head = read_head(common_dir, common_dir)
    if isinstance(head, Known) and head.value.commit is None:
        return ABSENT
    reason = head.reason if isinstance(head, Unknown) else "names a commit that git cannot find"
    return Unknown(f"HEAD of {common_dir} {reason}")
