"""What an episode works on now, and whether its next action can still be believed."""

from __future__ import annotations

from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict

from brief.core.model.errors import UsageError
from brief.core.model.wire import Moment, Wire
from brief.core.text.sanitize import clean, is_ahead, span

TITLE_LIMIT = 200
NEXT_LIMIT = 500
SCOPE_LIMIT = 50
PATH_LIMIT = 400


class Task(Wire):
    """The task of one episode. `next_action` is what its session said it would do; `done` ends it."""

    episode: str
    title: str
    scope: tuple[str, ...] = ()
    next_action: str | None = None
    next_since: Moment | None = None
    since: Moment
    done: Moment | None = None


class NextAction(BaseModel):
    """A next action to show, or the reason why it is withheld; both null where none was set."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    text: str | None
    withheld: str | None


def believable_next(task: Task, now: datetime, stale_after: timedelta) -> NextAction:
    """The next action while it is younger than `stale_after`; older, or from the future, it is withheld.

    What a session meant to do hours ago is more often wrong than right, and a wrong plan costs more than none.
    """
    if task.next_action is None or task.next_since is None:
        return NextAction(text=None, withheld=None)
    age = now - task.next_since
    if age > stale_after:
        limit = int(stale_after.total_seconds() // 60)
        said = f"set {span(age)} ago, and after {limit} minutes (session.freshness.stale_minutes) it is not repeated"
        return NextAction(text=None, withheld=said)
    if is_ahead(age):
        return NextAction(text=None, withheld=f"set {span(-age)} in the future: a clock was moved")
    return NextAction(text=task.next_action, withheld=None)


def is_ageing(task: Task, now: datetime, fresh_for: timedelta) -> bool:
    """Whether the next action is old enough that its age is told beside it."""
    return task.next_since is not None and now - task.next_since > fresh_for


def checked_text(name: str, text: str, limit: int) -> str:
    """A title or next action without the blanks around it, or UsageError where it is blank or longer than `limit` characters."""
    said = text.strip()
    if not clean(said, limit):
        raise UsageError(f"{name} is blank; say it in a few words")
    if len(said) > limit:
        raise UsageError(f"{name} has {len(said)} characters; say it in at most {limit}")
    return said


def checked_scope(paths: tuple[str, ...]) -> tuple[str, ...]:
    """The paths a task is about, each once and in the order given, or UsageError."""
    if len(paths) > SCOPE_LIMIT:
        raise UsageError(f"scope names {len(paths)} paths; name at most {SCOPE_LIMIT}, a folder stands for its files")
    for path in paths:
        if not path.strip() or len(path) > PATH_LIMIT or "\0" in path:
            raise UsageError(f"scope {path[:60]!r} is no path; give paths below the checkout")
    return tuple(dict.fromkeys(paths))
