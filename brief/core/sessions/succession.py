"""Find the successor of a session: `/clear` restarts the conversation in the same client under another id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from brief.core.sessions.episode import Episode, Process

REPLACED = "its client ended it: another took its place"
"""Why an episode closes when its client shows another session. The mod sends the same words."""

_LEFT = ("its client ended it: clear", REPLACED)

_SUCCEEDED = "its client went on as "


def succession_reason(successor: str) -> str:
    """The reason for closing an episode that the episode `successor` continues."""
    return _SUCCEEDED + successor


def successor_of(reason: str | None) -> str | None:
    """The id of the episode that continues one closed for this reason. None if none does."""
    return reason.removeprefix(_SUCCEEDED) if reason is not None and reason.startswith(_SUCCEEDED) else None


def leaves_successor(reason: str | None) -> bool:
    """Whether an episode closed for this reason continues under another id in the same client."""
    return reason in _LEFT


def last_heir(session: str, successors: Mapping[str, str]) -> str | None:
    """The last session of the chain that continues this one. None if none does."""
    seen, heir = {session}, successors.get(session)
    while heir is not None and heir not in seen and heir in successors:
        seen.add(heir)
        heir = successors[heir]
    return None if heir in seen else heir


def choose_predecessor(
    session: str,
    process: Process | None,
    still_open: Iterable[Episode],
    closed: Iterable[Episode],
    *,
    takes_over: bool,
) -> Episode | None:
    """The episode of the same process that `session` continues. `closed` are the last closed ones, the latest first.

    If the client reported a restart (`takes_over`) and exactly one of its episodes is still open, it is that one.
    """
    if process is None or None in (process.start, process.boot, process.table):
        return None
    ours = [one for one in still_open if one.process == process and one.id != session] if takes_over else []
    if len(ours) == 1:
        return ours[0]
    left = (one for one in closed if successor_of(one.closed_reason) is None)
    last = next((one for one in left if one.process == process and one.id != session), None)
    return last if last is not None and leaves_successor(last.closed_reason) else None
