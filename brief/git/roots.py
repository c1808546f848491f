"""The root commits of a repository, by which its clones recognize each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brief.core.model.errors import GitError
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.git.command import GitTimeoutError, git_cwd, run
from brief.git.head import read_head

if TYPE_CHECKING:
    from brief.fastpath.known import Reading


def root_commits(common_dir: str, deadline_s: float) -> Reading[frozenset[str]]:
    """The full names of the commits without a parent that the primary checkout's HEAD descends from.

    ABSENT before the first commit. The history of a shallow clone begins where it was cut. Git walks the whole history,
    which takes seconds for millions of commits: raises GitTimeoutError after `deadline_s`.
    """
    try:
        # HEAD may name a branch without a commit yet, which is not an error.
        listed = run(
            ["rev-list", "--max-parents=0", "--ignore-missing", "HEAD", "--"],
            git_cwd(common_dir),
            deadline_s=deadline_s,
        )
    except GitTimeoutError:
        raise
    except GitError as fault:
        return Unknown(fault.sentence)
    roots = frozenset(listed.decode("ascii").split())
    if roots:
        return Known(roots)
    # Git lists nothing both for a branch without a commit and for one whose commit it cannot find.
    head = read_head(common_dir, common_dir)
    if isinstance(head, Known) and head.value.commit is None:
        return ABSENT
    reason = head.reason if isinstance(head, Unknown) else "names a commit that git cannot find"
    return Unknown(f"HEAD of {common_dir} {reason}")
