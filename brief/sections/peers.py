"""Who else is here: those a server was told of, those a client records, and those that other clones answer for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from brief.clones.neighbours import Neighbourhood
from brief.core.model.brief import Board, EpisodeState, Peer, PeersData, PeersSection, Row, Status
from brief.core.sessions.claims import Claim, against, relative_tasks
from brief.core.sessions.life import is_waiting
from brief.core.sessions.presence import peers as merged
from brief.core.sessions.task import Task
from brief.core.text.sanitize import clean, elapsed, wire
from brief.fastpath.known import Known, Unknown
from brief.git.checkout_presence import find_checkout
from brief.git.worktree_entries import unlisted_entries
from brief.git.worktrees import Checkout
from brief.sections.boards import board_rows, checkout_boards, headline
from brief.sections.context import SectionContext, SectionQuery, own_episode
from brief.sections.peer_dedup import elsewhere_left_out, told_once
from brief.sessions.client_records import belonging

_MOST_PATHS = 3
_MOST_ENTRIES = 5


def answer(context: SectionContext, query: SectionQuery) -> PeersSection:
    """Everybody but the one who asks; unread where no server holds the board, since then nobody was asked."""
    if context.absence is not None:
        return PeersSection(status=Status.UNREAD, headline="nobody was asked", reason=context.absence)
    now, hood, seen = context.now(), _asked(context, query), context.seen()
    worktrees = context.worktrees()
    checkouts = tuple(checkout for checkout in worktrees if not checkout.bare)
    known = elsewhere_left_out(context.sessions.known(), {wire(checkout.root) for checkout in checkouts}, hood)
    scopes = _scopes(context)
    here = _with_scopes(
        merged(
            known,
            context.sessions.tasks(),
            belonging(seen, (checkout.root for checkout in checkouts)),
            {wire(checkout.root): _branch(checkout) for checkout in checkouts},
        ),
        scopes,
    )
    clones = told_once(hood.neighbours, {peer.episode for peer in here})
    boards = (
        *checkout_boards(worktrees, here, partial(find_checkout, context.common_dir)),
        *(clone.board for clone in clones),
    )
    everybody = sorted((*here, *(peer for clone in clones for peer in clone.peers)), key=_waits_last)
    peers = _without_asker(tuple(everybody), context, query)
    gaps = (
        *_unlisted(context.common_dir, worktrees),
        *(clone.gap for clone in clones if clone.gap),
        *hood.gaps,
        *((seen.unread,) if seen.unread else ()),
    )
    return PeersSection(
        status=Status.PARTIAL if gaps else Status.READ,
        headline=headline(len(peers), boards),
        rows=tuple(
            Row(text=text)
            for text in (*_overlap_rows(context, query), *_peer_rows(peers, boards, now), *board_rows(boards))
        ),
        data=PeersData(count=len(peers), boards=boards, peers=peers),
        reason="; ".join(gaps) or None,
        as_of=now - timedelta(seconds=hood.age_s),
    )


def _unlisted(common_dir: str, worktrees: Sequence[Checkout]) -> Iterator[str]:
    """A sentence where git keeps a work tree that it does not list: whoever works there is not among the peers."""
    entries = unlisted_entries(common_dir, worktrees)
    if isinstance(entries, Unknown):
        yield f"the worktree entries could not be read: {clean(entries.reason, 300)}"
    elif isinstance(entries, Known) and entries.value:
        names, more = entries.value[:_MOST_ENTRIES], len(entries.value) - _MOST_ENTRIES
        noun = "entry" if len(entries.value) == 1 else "entries"
        named = ", ".join(clean(name, 60) for name in names) + (f" and {more} more" if more > 0 else "")
        yield f"the worktree {noun} {named} could not be read"


def _asked(context: SectionContext, query: SectionQuery) -> Neighbourhood:
    """The servers of other clones; nobody where another server asks, so that no question goes round."""
    if query.local or context.neighbours is None:
        return Neighbourhood((), ())
    return context.neighbours()


def _branch(checkout: Checkout) -> str | None:
    return wire(checkout.branch) if checkout.branch is not None else None


def _waits_last(peer: Peer) -> bool:
    """Who waits for a human is named first, wherever that is."""
    return not is_waiting(peer.state)


def _without_asker(peers: tuple[Peer, ...], context: SectionContext, query: SectionQuery) -> tuple[Peer, ...]:
    """Everybody but the one who asks; another server asks for everybody and names no session."""
    if query.local and query.session is None:
        return peers
    own = own_episode(context, query)
    asker = own.episode.id if own else query.session
    return tuple(peer for peer in peers if peer.episode != asker)


# ---------------------------------------------------------------- where each of them writes


def _scopes(context: SectionContext) -> dict[str, tuple[str, ...]]:
    """The paths that each registered episode said it is about, by its task and its claims."""
    scopes = {episode: task.scope for episode, task in context.sessions.tasks().items()}
    for claim in context.sessions.claims():
        scopes[claim.episode] = tuple(dict.fromkeys((*scopes.get(claim.episode, ()), *claim.scope)))
    return scopes


def _with_scopes(peers: Iterable[Peer], scopes: Mapping[str, tuple[str, ...]]) -> tuple[Peer, ...]:
    return tuple(
        peer.model_copy(update={"scope": scopes[peer.episode]}) if peer.episode in scopes else peer for peer in peers
    )


def _overlap_rows(context: SectionContext, query: SectionQuery) -> Iterator[str]:
    """Where the words of others meet those of the one who asks."""
    own = own_episode(context, query)
    if own is None:
        return
    tasks = relative_tasks(context.sessions.tasks(), context.sessions.known())
    claims = context.sessions.claims()
    scope = _own_scope(own.episode.id, tasks, claims)
    for met in against(scope, own.episode.id, claims, tasks):
        pairs = ", ".join(
            f"{clean(theirs, 80)} meets your {clean(ours, 80)}" for ours, theirs in met.paths[:_MOST_PATHS]
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
    """Where and what first: a narrow terminal cuts the end."""
    task = f": {clean(peer.task, 80)}" if peer.task else ""
    provider = "" if peer.provider == "unknown" else f"{clean(peer.provider, 40)} "
    branch = f", on {clean(peer.branch, 60)}" if peer.branch else ""
    who = f"({provider}{clean(peer.episode[:8])}{branch})"
    return f"{clean(board, 400)}, {_state(peer, now)}{task} {who}{_writes(peer)}"


def _state(peer: Peer, now: datetime) -> str:
    """What it does, and how far that is known."""
    state = "state unknown" if peer.state is EpisodeState.UNKNOWN else str(peer.state)
    if peer.source == "seen":
        return f"{state} (seen, by its folder only)"
    if peer.liveness == "heard":
        return state
    told = f"{peer.liveness} for {elapsed(now - peer.heard)}" if peer.heard is not None else "never heard"
    return told if peer.state is EpisodeState.UNKNOWN else f"{state} (seen), {told}"


def _writes(peer: Peer) -> str:
    if not peer.scope:
        return ""
    more = len(peer.scope) - _MOST_PATHS
    named = ", ".join(clean(path, 60) for path in peer.scope[:_MOST_PATHS])
    return f"; writes in {named}{f' and {more} more' if more > 0 else ''}"
