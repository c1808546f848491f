"""Which session goes on in which: `/clear` begins the conversation anew, in the same client and under another id."""

from __future__ import annotations

from collections.abc import Iterable

from brief.core.sessions.episode import Episode

REPLACED = "its client ended it: another took its place"
"""Why an episode is closed whose client shows another session, as the mod says it and as we do."""

_LEFT = ("its client ended it: clear", REPLACED)

_SUCCEEDED = "its client went on as "


def succeeded(successor: str) -> str:
    """Why an episode is closed that another one, named by its id, has taken over from."""
    return _SUCCEEDED + successor


def leaves_successor(reason: str | None) -> bool:
    """Whether an episode that was closed for this reason goes on under another id, in the same client."""
    return reason in _LEFT


def predecessor(
    successor: Episode, still_open: Iterable[Episode], closed: Iterable[Episode], *, takes_over: bool
) -> Episode | None:
    """The episode of the same process that `successor` goes on with; `closed` are those closed last, the latest first.

    Where the client said that it begins anew (`takes_over`), an episode that is still open is meant, if there is one alone.
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
