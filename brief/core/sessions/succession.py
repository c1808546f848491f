"""Find the successor of a session: `/clear` restarts the conversation in the same client under another id."""

from __future__ import annotations

from collections.abc import Iterable

from brief.core.sessions.episode import Episode

REPLACED = "its client ended it: another took its place"
"""Why an episode closes when its client shows another session. The mod sends the same words."""

_LEFT = ("its client ended it: clear", REPLACED)

_SUCCEEDED = "its client went on as "


def succeeded(successor: str) -> str:
    """The reason for closing an episode that the episode `successor` continues."""
    return _SUCCEEDED + successor


def leaves_successor(reason: str | None) -> bool:
    """Whether an episode closed for this reason continues under another id in the same client."""
    return reason in _LEFT


def predecessor(
    successor: Episode, still_open: Iterable[Episode], closed: Iterable[Episode], *, takes_over: bool
) -> Episode | None:
    """The episode of the same process that `successor` continues. `closed` are the last closed ones, the latest first.

    If the client reported a restart (`takes_over`) and exactly one of its episodes is still open, it is that one.
    """
    ours = [one for one in still_open if _is_of_same_client(one, successor)] if takes_over else []
    if len(ours) == 1:
        return ours[0]
    left = (one for one in closed if not (one.closed_reason or "").startswith(_SUCCEEDED))
    last = next((one for one in left if _is_of_same_client(one, successor)), None)
    return last if last is not None and leaves_successor(last.closed_reason) else None


def _is_of_same_client(one: Episode, other: Episode) -> bool:
    process = one.process
    is_known = process is not None and None not in (process.start, process.boot, process.table)
    return is_known and process == other.process and one.id != other.id
