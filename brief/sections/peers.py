"""The peers section: the sessions that registered with a server, that a client records, or that other clones report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from brief.clones.neighbours import Neighbourhood
from brief.core.model.brief import PeersSection, Row, Status
from brief.core.model.section_data import Board, EpisodeState, Peer, PeersData
from brief.core.sessions.claims import Claim, find_overlaps, relative_tasks
from brief.core.sessions.life import is_waiting
from brief.core.sessions.presence import merge_peers as merged
from brief.core.sessions.task import Task
from brief.core.text.sanitize import clean, elapsed, to_wire
from brief.fastpath.known import Known, Unknown
from brief.git.checkout_presence import find_checkout
from brief.git.worktree_entries import unlisted_entries
from brief.git.worktrees import Checkout
from brief.sections.boards import board_rows, checkout_boards, make_headline
from brief.sections.context import SectionContext, SectionQuery, own_episode
from brief.sections.peer_dedup import drop_duplicates, drop_reported_elsewhere
from brief.sessions.client_records import group_by_checkout

_MOST_PATHS = 3
_MOST_ENTRIES = 5


def answer(context: SectionContext, query: SectionQuery) -> PeersSection:
    """All sessions but the asking one. UNREAD without a server: nobody was asked."""
    if context.absence is not None:
        return PeersSection(status=Status.UNREAD, headline="nobody was asked", reason=context.absence)
    now, hood, seen = context.now(), _ask_neighbours(context, query), context.seen()
    worktrees = context.worktrees()
    checkouts = tuple(checkout for checkout in worktrees if not checkout.bare)
    known = drop_reported_elsewhere(
        context.sessions.open_episodes(), {to_wire(checkout.root) for checkout in checkouts}, hood
    )
    scopes = _find_scopes(context)
    here = _with_scopes(
        merged(
            known,
            context.sessions.tasks(),
            group_by_checkout(seen, (checkout.root for checkout in checkouts)),
            {to_wire(checkout.root): _branch_of(checkout) for checkout in checkouts},
        ),
        scopes,
    )
    clones = drop_duplicates(hood.neighbours, {peer.episode for peer in here})
    boards = (
        *checkout_boards(worktrees, here, partial(find_checkout, context.common_dir)),
        *(clone.board for clone in clones),
    )
    everybody = sorted((*here, *(peer for clone in clones for peer in clone.peers)), key=_waiting_first)
    peers = _without_asker(tuple(everybody), context, query)
    gaps = (
        *_unlisted_gap(context.common_dir, worktrees),
        *(clone.gap for clone in clones if clone.gap),
        *hood.gaps,
        *((seen.unread,) if seen.unread else ()),
        *(clean(lost, 600) for lost in (context.sessions.loss(), context.sessions.missing()) if lost),
    )
    return PeersSection(
        status=Status.PARTIAL if gaps else Status.READ,
        headline=make_headline(len(peers), boards),
        rows=tuple(
            Row(text=text)
            for text in (*_overlap_rows(context, query), *_peer_rows(peers, boards, now), *board_rows(boards))
        ),
        data=PeersData(count=len(peers), boards=boards, peers=peers),
        reason="; ".join(gaps) or None,
        as_of=now - timedelta(seconds=hood.age_s),
    )


def _unlisted_gap(common_dir: str, worktrees: Sequence[Checkout]) -> Iterator[str]:
    """A sentence if git has worktree entries that it does not list: a session there is not among the peers."""
    entries = unlisted_entries(common_dir, worktrees)
    if isinstance(entries, Unknown):
        yield f"the worktree entries could not be read: {clean(entries.reason, 300)}"
    elif isinstance(entries, Known) and entries.value:
        names, more = entries.value[:_MOST_ENTRIES], len(entries.value) - _MOST_ENTRIES
        noun = "entry" if len(entries.value) == 1 else "entries"
        named = ", ".join(clean(name, 60) for name in names) + (f" and {more} more" if more > 0 else "")
        yield f"the worktree {noun} {named} could not be read"


def _ask_neighbours(context: SectionContext, query: SectionQuery) -> Neighbourhood:
    """The servers of other clones. None is asked on behalf of another server, so that no question goes in circles."""
    if query.local or context.neighbours is None:
        return Neighbourhood((), ())
    return context.neighbours()


def _branch_of(checkout: Checkout) -> str | None:
    return to_wire(checkout.branch) if checkout.branch is not None else None


def _waiting_first(peer: Peer) -> bool:
    """The sort key that puts sessions waiting for a person first, in whatever checkout they are."""
    return not is_waiting(peer.state)


def _without_asker(peers: tuple[Peer, ...], context: SectionContext, query: SectionQuery) -> tuple[Peer, ...]:
    """All peers but the asking session. Another server asks without a session and gets them all."""
    if query.local and query.session is None:
        return peers
    own = own_episode(context, query)
    asker = own.episode.id if own else query.session
    return tuple(peer for peer in peers if peer.episode != asker)


# ---------------------------------------------------------------- scopes and overlaps


def _find_scopes(context: SectionContext) -> dict[str, tuple[str, ...]]:
    """The paths of each registered episode: the scope of its task and of its claims."""
    scopes = {episode: task.scope for episode, task in context.sessions.tasks().items()}
    for claim in context.sessions.claims():
        scopes[claim.episode] = tuple(dict.fromkeys((*scopes.get(claim.episode, ()), *claim.scope)))
    return scopes


def _with_scopes(peers: Iterable[Peer], scopes: Mapping[str, tuple[str, ...]]) -> tuple[Peer, ...]:
    return tuple(peer.replace(scope=scopes[peer.episode]) if peer.episode in scopes else peer for peer in peers)


def _overlap_rows(context: SectionContext, query: SectionQuery) -> Iterator[str]:
    """A row for each overlap of another session's scope with the asking session's."""
    own = own_episode(context, query)
    if own is None:
        return
    tasks = relative_tasks(context.sessions.tasks(), context.sessions.open_episodes())
    claims = context.sessions.claims()
    scope = _own_scope(own.episode.id, tasks, claims)
    for met in find_overlaps(scope, own.episode.id, claims, tasks):
        pairs = ", ".join(
            f"{clean(theirs, 80)} overlaps your {clean(ours, 80)}" for ours, theirs in met.paths[:_MOST_PATHS]
        )
        more = f" and {len(met.paths) - _MOST_PATHS} more" if len(met.paths) > _MOST_PATHS else ""
        yield f"overlap with {clean(met.episode[:8])}, {clean(met.about, 80)}: {pairs}{more}"


def _own_scope(own: str, tasks: Mapping[str, Task], claims: Iterable[Claim]) -> tuple[str, ...]:
    claimed = [path for claim in claims if claim.episode == own for path in claim.scope]
    return (*(tasks[own].scope if own in tasks else ()), *claimed)


# ---------------------------------------------------------------- rows


def _peer_rows(peers: Iterable[Peer], boards: Sequence[Board], now: datetime) -> list[str]:
    names = {board.path: board.name for board in boards if board.kind == "checkout"}
    return [_peer_row(peer, names.get(peer.checkout, peer.checkout), now) for peer in peers]


def _peer_row(peer: Peer, board: str, now: datetime) -> str:
    """The checkout and the task come first, since a narrow terminal cuts off the end."""
    task = f": {clean(peer.task, 80)}" if peer.task else ""
    provider = "" if peer.provider == "unknown" else f"{clean(peer.provider, 40)} "
    branch = f", on {clean(peer.branch, 60)}" if peer.branch else ""
    who = f"({provider}{clean(peer.episode[:8])}{branch})"
    return f"{clean(board, 400)}, {_describe_state(peer, now)}{task} {who}{_describe_scope(peer)}"


def _describe_state(peer: Peer, now: datetime) -> str:
    """The session's state, and how well it is known."""
    state = "state unknown" if peer.state is EpisodeState.UNKNOWN else str(peer.state)
    if peer.source == "seen":
        return f"{state} (seen, by its folder only)"
    if peer.liveness == "heard":
        return state
    heard = f"{peer.liveness} for {elapsed(now - peer.heard)}" if peer.heard is not None else "never heard"
    return heard if peer.state is EpisodeState.UNKNOWN else f"{state} (seen), {heard}"


def _describe_scope(peer: Peer) -> str:
    if not peer.scope:
        return ""
    more = len(peer.scope) - _MOST_PATHS
    named = ", ".join(clean(path, 60) for path in peer.scope[:_MOST_PATHS])
    return f"; writes in {named}{f' and {more} more' if more > 0 else ''}"
