"""The sessions that are here: registered episodes and the sessions that a client records by itself, as one list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from brief.core.model.section_data import EpisodeState, Peer
from brief.core.model.wire import Moment, Wire
from brief.core.sessions.episode import Ended, KnownEpisode
from brief.core.sessions.life import is_waiting
from brief.core.sessions.task import Task


class SeenSession(Wire, frozen=True):
    """A session in its client's own records. `cwd` is an absolute path as recorded; `name` is a sanitized title."""

    id: str
    provider: Literal["claude-code"]
    cwd: str
    state: EpisodeState
    since: Moment
    name: str | None
    pid: int


class Seen(Wire, frozen=True):
    """The sessions in a client's records. `unread` is why some or all of these could not be read."""

    sessions: tuple[SeenSession, ...] = ()
    unread: str | None = None


def without_ended(seen: Seen, ended: Mapping[str, Ended]) -> Seen:
    """The recorded sessions, without those that their own client has reported as `ended`.

    After `/clear` a client keeps the old session's id in its record. A session that began after the report, or in another
    client, is kept.
    """
    left = tuple(one for one in seen.sessions if not _is_over(one, ended.get(one.id)))
    return seen if len(left) == len(seen.sessions) else seen.replace(sessions=left)


def _is_over(session: SeenSession, ended: Ended | None) -> bool:
    return ended is not None and session.since <= ended.at and ended.pid in (None, session.pid)


SeenByCheckout = Mapping[str | None, Sequence[SeenSession]]
"""Recorded sessions by checkout, spelled as on the wire. The key None holds the sessions outside every checkout."""


def merge_peers(
    known: Iterable[KnownEpisode],
    tasks: Mapping[str, Task],
    seen: SeenByCheckout,
    branches: Mapping[str, str | None],
) -> tuple[Peer, ...]:
    """Every registered or recorded session once: those that wait for a person first, then the oldest.

    If a session is both, its record supplies the state that the server does not know. A session that is only recorded is a
    peer if it is in a checkout; `branches` gives the branch of each checkout.
    """
    episodes = tuple(known)
    states = {session.id: session.state for sessions in seen.values() for session in sessions}
    registered = [_peer_of_episode(one, tasks.get(one.episode.id), states.get(one.episode.id)) for one in episodes]
    ids = {one.episode.id for one in episodes}
    others = [
        _peer_of_record(session, checkout, branches)
        for checkout, session in _in_checkouts(seen)
        if session.id not in ids
    ]
    return tuple(
        sorted((*registered, *others), key=lambda peer: (not is_waiting(peer.state), peer.since, peer.episode))
    )


def _in_checkouts(seen: SeenByCheckout) -> Iterator[tuple[str, SeenSession]]:
    return ((checkout, one) for checkout, sessions in seen.items() if checkout is not None for one in sessions)


def _peer_of_episode(one: KnownEpisode, task: Task | None, seen: EpisodeState | None) -> Peer:
    episode = one.episode
    return Peer(
        episode=episode.id,
        provider=episode.provider,
        state=seen if seen is not None and one.state is EpisodeState.UNKNOWN else one.state,
        task=task.title if task else None,
        branch=episode.branch,
        checkout=episode.checkout,
        since=episode.since,
        heard=episode.heard,
        source="registered",
        liveness=one.liveness,
    )


def _peer_of_record(session: SeenSession, checkout: str, branches: Mapping[str, str | None]) -> Peer:
    return Peer(
        episode=session.id,
        provider=session.provider,
        state=session.state,
        task=None,
        branch=branches.get(checkout),
        checkout=checkout,
        since=session.since,
        heard=None,
        source="seen",
        liveness="unheard",
    )


def find_deepest(folder: str, roots: Mapping[str, str]) -> str | None:
    """The value of the deepest of the `roots` that is or contains the absolute `folder`, or None.

    Roots are absolute paths without a trailing slash. Paths are compared by whole components.
    """
    parts = folder.rstrip("/").split("/")
    above = ("/".join(parts[:count]) for count in range(len(parts), 1, -1))
    return next((roots[path] for path in above if path in roots), roots.get("/"))
