"""A follow-up: a line about what one session did that another is waiting for, shown once in that session's next brief."""

from __future__ import annotations

from brief.core.model.wire import Moment, Wire
from brief.core.notices.notice import Notice
from brief.core.text.sanitize import clean

MOST_BYTES = 300
"""The most bytes of a line, since it must fit into a prompt that wakes a session."""

_STEP = 20


class FollowUp(Wire, frozen=True):
    """A line for `session`, or if that is no longer open, for the next session of `checkout` that asks."""

    number: int
    session: str | None
    checkout: str
    text: str
    since: Moment

    @property
    def line(self) -> str:
        """The text as one bounded, sanitized line."""
        lines = (clean(self.text, characters) for characters in range(MOST_BYTES, 0, -_STEP))
        return next((line for line in lines if len(line.encode()) <= MOST_BYTES), "")


def is_for(follow_up: FollowUp, episode: str, checkout: str, open_ids: frozenset[str]) -> bool:
    """Whether the follow-up is for this episode: it is addressed to it, or to a closed episode of the same checkout."""
    if follow_up.session in open_ids:
        return follow_up.session == episode
    return follow_up.checkout == checkout


def fix_key(bug_dep: Notice) -> str:
    """The key of a bug-dep, its slug and date. It is the same in every checkout that has a copy of the file."""
    return f"{bug_dep.slug} {bug_dep.created or ''}".rstrip()


def fix_text(bug_dep: Notice) -> str:
    """The line for a session that waits for a bug-dep, once that is done."""
    ticket = clean(bug_dep.ticket or bug_dep.slug, 80)
    about = f" on {clean(bug_dep.component, 60)}" if bug_dep.component else ""
    return f"fixed in {ticket}{about}: update and resume ({clean(bug_dep.title, 120)})"
