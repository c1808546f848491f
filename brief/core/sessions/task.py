"""The task of an episode, and whether its next action can still be believed."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec import Struct

from brief.core.model.errors import UsageError
from brief.core.model.wire import Moment, Wire
from brief.core.text.sanitize import clean, is_ahead, span

TITLE_LIMIT = 200
NEXT_LIMIT = 500
SCOPE_LIMIT = 50
PATH_LIMIT = 400


class Task(Wire, frozen=True, kw_only=True):
    """The task of one episode. `next_action` is what its session said it would do next; `done` is when it ended."""

    episode: str
    title: str
    scope: tuple[str, ...] = ()
    next_action: str | None = None
    next_since: Moment | None = None
    since: Moment
    done: Moment | None = None


class NextAction(Struct, frozen=True):
    """A next action to show, or the reason why it is withheld. Both are null if none was set."""

    text: str | None
    withheld: str | None


def new_task(episode: str, title: str, scope: tuple[str, ...], following: str | None, now: datetime) -> Task:
    """Make a task that begins now. Raises UsageError for a text that is blank or too long."""
    action = check_next(following) if following is not None else None
    return Task(
        episode=episode,
        title=check_text("the title of the task", title, TITLE_LIMIT),
        scope=check_scope(scope),
        next_action=action,
        next_since=now if action else None,
        since=now,
    )


def check_next(text: str) -> str:
    """The next action in one line. Raises UsageError."""
    return check_text("the next action", text, NEXT_LIMIT)


def believable_next(task: Task, now: datetime, stale_after: timedelta) -> NextAction:
    """The next action, withheld if it is older than `stale_after` or from the future.

    A plan that is hours old is more often wrong than right, and a wrong plan costs more than none.
    """
    if task.next_action is None or task.next_since is None:
        return NextAction(text=None, withheld=None)
    age = now - task.next_since
    if age > stale_after:
        limit = int(stale_after.total_seconds() // 60)
        reason = f"set {span(age)} ago, and withheld after {limit} minutes (session.freshness.stale_minutes)"
        return NextAction(text=None, withheld=reason)
    if is_ahead(age):
        return NextAction(text=None, withheld=f"set {span(-age)} in the future: a clock was moved")
    return NextAction(text=task.next_action, withheld=None)


def is_ageing(task: Task, now: datetime, fresh_for: timedelta) -> bool:
    """Whether the next action is old enough to be shown with its age."""
    return task.next_since is not None and now - task.next_since > fresh_for


def check_text(name: str, text: str, limit: int) -> str:
    """Strip a title or next action. Raises UsageError if it is blank or longer than `limit` characters."""
    stripped = text.strip()
    if not clean(stripped, limit):
        raise UsageError(f"{name} is blank; give a few words")
    if len(stripped) > limit:
        raise UsageError(f"{name} has {len(stripped)} characters; give at most {limit}")
    return stripped


def check_scope(paths: tuple[str, ...]) -> tuple[str, ...]:
    """The paths of a task, each once and in the given order. Raises UsageError."""
    if len(paths) > SCOPE_LIMIT:
        raise UsageError(f"scope names {len(paths)} paths; name at most {SCOPE_LIMIT}: a folder covers its files")
    for path in paths:
        if not path.strip() or len(path) > PATH_LIMIT or "\0" in path:
            raise UsageError(f"scope {path[:60]!r} is not a path; give paths below the checkout")
    return tuple(dict.fromkeys(paths))
