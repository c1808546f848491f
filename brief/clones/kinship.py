"""Which repositories are clones of each other: those whose histories begin with the same commits."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from brief.fastpath.known import Known, Unknown
from brief.git.command import GitTimeoutError
from brief.git.roots import root_commits

LEARN_SECONDS = 60.0


def are_clones(ours: AbstractSet[str], theirs: AbstractSet[str]) -> bool:
    """Whether the root commits of one repository are among those of the other.

    The sets need not be equal: a clone that has merged another history also has the roots of that one.
    """
    return bool(ours and theirs) and (ours <= theirs or theirs <= ours)


class RootCommits:
    """The root commits of one repository. While `known` is None, `reason` says why. May be read from any thread."""

    def __init__(self, common_dir: str) -> None:
        self._common_dir = common_dir
        self.known: frozenset[str] | None = None
        self.reason = "git has not listed them yet"
        self.settled = False

    def learn(self, deadline_s: float = LEARN_SECONDS) -> None:
        """Ask git, which may take long. Sets `settled` if asking again is useless: known roots, or too long a history."""
        try:
            found = root_commits(self._common_dir, deadline_s)
        except GitTimeoutError as fault:
            self.reason = fault.sentence
            self.settled = True
            return
        if isinstance(found, Unknown):
            self.reason = found.reason
            return
        self.known = found.value if isinstance(found, Known) else frozenset()
        self.settled = bool(self.known)
