"""The first commits of a repository, by which its clones know each other."""

from __future__ import annotations

from brief.git.command import run, seat


def root_commits(common_dir: str, deadline_s: float) -> frozenset[str]:
    """The full names of the commits without a parent that the primary checkout's HEAD descends from.

    Empty before the first commit. A shallow clone's history begins where it was cut. git walks all of the history,
    which takes seconds where there are millions of commits: raises GitTimeoutError after `deadline_s`, GitError.
    """
    # What HEAD names may not be there yet; that is no fault.
    listed = run(
        ["rev-list", "--max-parents=0", "--ignore-missing", "HEAD", "--"], seat(common_dir), deadline_s=deadline_s
    )
    return frozenset(listed.decode("ascii").split())
