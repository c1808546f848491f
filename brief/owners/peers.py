"""The boards of every checkout of the repository, and who is on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from brief.clones.neighbours import Neighbourhood
from brief.core.episode import KnownEpisode
from brief.core.model import Board, Peer, PeersData, PeersSection, Row, Status
from brief.core.task import Task
from brief.core.text.sanitize import ago, clean, wire
from brief.git import Checkout
from brief.owners.copies import elsewhere_left_out, told_once
from brief.owners.world import Ask, World, own_episode


def answer(world: World, ask: Ask) -> PeersSection:
    """Everybody but the one who asks; unread where no server holds the board, since then nobody was asked."""
    if world.absence is not None:
        return PeersSection(status=Status.UNREAD, headline="peers unread: nobody was asked", reason=world.absence)
    now = world.now()
    hood = _asked(world, ask)
    listed = tuple(checkout for checkout in world.worktrees() if not checkout.bare)
    known = elsewhere_left_out(world.sessions.known(), {wire(checkout.root) for checkout in listed}, hood)
    clones = told_once(hood.neighbours, {one.episode.id for one in known})
    boards = (*_boards(listed, known), *(clone.board for clone in clones))
    peers = _without_asker(
        (*_registered(world, known), *(peer for clone in clones for peer in clone.peers)), world, ask
    )
    gaps = (*(clone.gap for clone in clones if clone.gap), *hood.gaps)
    return PeersSection(
        status=Status.PARTIAL if gaps else Status.READ,
        headline=_headline(len(peers), boards),
        rows=tuple(Row(text=text) for text in (*_peer_rows(peers, boards, now), *_board_rows(boards))),
        data=PeersData(count=len(peers), boards=boards, peers=peers),
        reason="; ".join(gaps) or None,
        as_of=now - timedelta(seconds=hood.age_s),
    )


def _asked(world: World, ask: Ask) -> Neighbourhood:
    """The servers of other clones; nobody where another server asks, so that no question goes round."""
    if ask.local or world.neighbours is None:
        return Neighbourhood((), ())
    return world.neighbours()


def _registered(world: World, known: tuple[KnownEpisode, ...]) -> Iterator[Peer]:
    tasks = world.sessions.tasks()
    return (_peer(one, tasks.get(one.episode.id)) for one in known)


def _without_asker(peers: tuple[Peer, ...], world: World, ask: Ask) -> tuple[Peer, ...]:
    """Everybody but the one who asks; another server asks for everybody and names no session."""
    if ask.local and ask.session is None:
        return peers
    own = own_episode(world, ask)
    return tuple(peer for peer in peers if own is None or peer.episode != own.episode.id)


def _boards(checkouts: Sequence[Checkout], known: tuple[KnownEpisode, ...]) -> tuple[Board, ...]:
    """A board for each checkout that git lists, then one for each that only an episode remembers."""
    counts = Counter(one.episode.checkout for one in known)
    listed = [_board(checkout, counts) for checkout in checkouts]
    paths = {board.path for board in listed}
    forgotten = [
        Board(
            kind="checkout",
            name=_name(path),
            path=path,
            standing="gone",
            reason="git lists no such checkout any more",
            count=count,
        )
        for path, count in sorted(counts.items())
        if path not in paths
    ]
    return (*listed, *forgotten)


def _board(checkout: Checkout, counts: Counter[str]) -> Board:
    path = wire(checkout.root)
    standing, reason = _standing(checkout)
    return Board(
        kind="checkout", name=_name(path), path=path, standing=standing, reason=reason, count=counts.get(path, 0)
    )


def _standing(checkout: Checkout) -> tuple[str, str | None]:
    if checkout.gone:
        locked = f"; it is locked: {wire(checkout.locked)}" if checkout.locked else ""
        return "gone", f"its folder is missing{locked}; git worktree prune forgets it"
    if checkout.prunable is not None:
        return "prunable", wire(checkout.prunable) or "git would prune it"
    return "ready", None


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path


def _peer(one: KnownEpisode, task: Task | None) -> Peer:
    episode = one.episode
    return Peer(
        episode=episode.id,
        provider=episode.provider,
        state=one.state,
        task=task.title if task else None,
        branch=episode.branch,
        checkout=episode.checkout,
        since=episode.since,
        heard=episode.heard,
        source="registered",
        standing=one.standing,
    )


def _headline(count: int, boards: tuple[Board, ...]) -> str:
    sessions = _counted(count, "other session")
    checkouts = [board for board in boards if board.kind == "checkout"]
    missing = sum(board.standing != "ready" for board in checkouts)
    told = f", {missing} of them gone or prunable" if missing else ""
    clones = _clones_told(Counter(board.standing for board in boards if board.kind == "clone"))
    told += "," if told and clones.startswith(" and") else ""
    return f"{sessions} in {_counted(len(checkouts), 'checkout')}{told}{clones}"


def _clones_told(standings: Counter[str]) -> str:
    """The clones that were read, then the rest by their standings: ` and 2 clones, 1 clone silent`."""
    ready = standings.pop("ready", 0)
    read = f" and {_counted(ready, 'clone')}" if ready else ""
    return read + "".join(f", {_counted(count, 'clone')} {standing}" for standing, count in sorted(standings.items()))


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _peer_rows(peers: tuple[Peer, ...], boards: tuple[Board, ...], now: datetime) -> list[str]:
    names = {board.path: board.name for board in boards if board.kind == "checkout"}
    return [_peer_row(peer, names.get(peer.checkout, peer.checkout), now) for peer in peers]


def _peer_row(peer: Peer, board: str, now: datetime) -> str:
    state = peer.state.value
    if peer.standing == "unheard" and peer.heard is not None:
        state = f"unheard since the server started, last heard {ago(now - peer.heard)}"
    branch = f" on {clean(peer.branch, 60)}" if peer.branch else ""
    task = f": {clean(peer.task, 80)}" if peer.task else ""
    return f"{clean(board, 400)}{branch}, {clean(peer.provider, 40)} {clean(peer.episode[:8])}, {state}{task}"


def _board_rows(boards: tuple[Board, ...]) -> list[str]:
    return [
        f"{_place(board)} is {board.standing}: {clean(board.reason or '', 400)}"
        for board in boards
        if board.standing != "ready"
    ]


def _place(board: Board) -> str:
    """A clone goes by its path, since clones of one repository mostly have one name."""
    return f"clone {clean(board.path or board.name, 400)}" if board.kind == "clone" else clean(board.name, 60)
