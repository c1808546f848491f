"""The boards of every checkout of the repository, and who is on them."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from brief.core.episode import KnownEpisode
from brief.core.model import Board, Peer, PeersData, PeersSection, Row, Status
from brief.core.task import Task
from brief.core.text.sanitize import ago, clean, wire
from brief.git import Checkout
from brief.owners.world import Ask, World, own_episode


def answer(world: World, ask: Ask) -> PeersSection:
    """Everybody but the one who asks; unread where no server holds the board, since then nobody was asked."""
    if world.absence is not None:
        return PeersSection(status=Status.UNREAD, headline="peers unread: nobody was asked", reason=world.absence)
    now = world.now()
    known = world.sessions.known()
    boards = _boards(world, known)
    own = own_episode(world, ask)
    tasks = world.sessions.tasks()
    others = [one for one in known if own is None or one.episode.id != own.episode.id]
    peers = tuple(_peer(one, tasks.get(one.episode.id)) for one in others)
    return PeersSection(
        status=Status.READ,
        headline=_headline(len(peers), boards),
        rows=tuple(Row(text=text) for text in (*_peer_rows(peers, boards, now), *_board_rows(boards))),
        data=PeersData(count=len(peers), boards=boards, peers=peers),
        as_of=now,
    )


def _boards(world: World, known: tuple[KnownEpisode, ...]) -> tuple[Board, ...]:
    """A board for each checkout that git lists, then one for each that only an episode remembers."""
    counts = Counter(one.episode.checkout for one in known)
    listed = [_board(checkout, counts) for checkout in world.worktrees() if not checkout.bare]
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
        locked = f"; it is locked: {checkout.locked}" if checkout.locked else ""
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
    sessions = f"{count} other session{'' if count == 1 else 's'}"
    missing = sum(board.standing != "ready" for board in boards)
    told = f", {missing} of them gone or prunable" if missing else ""
    return f"{sessions} in {len(boards)} checkout{'' if len(boards) == 1 else 's'}{told}"


def _peer_rows(peers: tuple[Peer, ...], boards: tuple[Board, ...], now: datetime) -> list[str]:
    names = {board.path: board.name for board in boards}
    return [_peer_row(peer, names.get(peer.checkout, peer.checkout), now) for peer in peers]


def _peer_row(peer: Peer, board: str, now: datetime) -> str:
    state = peer.state.value
    if peer.standing == "unheard" and peer.heard is not None:
        state = f"unheard since the server started, last heard {ago(now - peer.heard)}"
    branch = f" on {clean(peer.branch, 60)}" if peer.branch else ""
    task = f": {clean(peer.task, 80)}" if peer.task else ""
    return f"{clean(board, 60)}{branch}, {clean(peer.provider, 40)} {peer.episode[:8]}, {state}{task}"


def _board_rows(boards: tuple[Board, ...]) -> list[str]:
    return [
        f"{clean(board.name, 60)} is {board.standing}: {clean(board.reason or '')}"
        for board in boards
        if board.standing != "ready"
    ]
