"""What one session's deed owes another: a line of its next brief, told once."""

from __future__ import annotations

from brief.core.model.wire import Moment, Wire
from brief.core.notices.notice import Notice
from brief.core.text.sanitize import clean

MOST_BYTES = 300
"""What a line takes at most: it must find room in a prompt that wakes a session."""

_STEP = 20


class FollowUp(Wire):
    """A line for the session `session`, or where that one is no longer open, for the next of `checkout` that asks."""

    number: int
    session: str | None
    checkout: str
    text: str
    since: Moment

    @property
    def line(self) -> str:
        """The text as briefs show it: one bounded line, also where a model reads it."""
        lines = (clean(self.text, characters) for characters in range(MOST_BYTES, 0, -_STEP))
        return next((line for line in lines if len(line.encode()) <= MOST_BYTES), "")


def owed(follow_up: FollowUp, episode: str, checkout: str, open_ids: frozenset[str]) -> bool:
    """Whether the follow-up is for this episode of this checkout: its own, or that of one it has succeeded."""
    if follow_up.session in open_ids:
        return follow_up.session == episode
    return follow_up.checkout == checkout


def fix_key(bug_dep: Notice) -> str:
    """What tells one bug-dep from another, alike in every checkout that has a copy of its file: its slug and its date."""
    return f"{bug_dep.slug} {bug_dep.created or ''}".rstrip()


def fix_text(bug_dep: Notice) -> str:
    """The line for who waits for a bug-dep that is done."""
    ticket = clean(bug_dep.ticket or bug_dep.slug, 80)
    about = f" on {clean(bug_dep.component, 60)}" if bug_dep.component else ""
    return f"fixed in {ticket}{about}: update and resume ({clean(bug_dep.title, 120)})"
