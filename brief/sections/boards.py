"""The boards of the peers section: one for each checkout git lists, and one for each that only a session remembers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from brief.core.model.brief import Board, Peer
from brief.core.text.sanitize import clean, wire
from brief.git import Checkout


def checkout_boards(checkouts: Sequence[Checkout], peers: Iterable[Peer]) -> tuple[Board, ...]:
    """The boards of one server, each with the count of its sessions."""
    counts = Counter(peer.checkout for peer in peers)
    listed = [_board(checkout, counts) for checkout in checkouts]
    paths = {board.path for board in listed}
    forgotten = [_forgotten(path, count) for path, count in sorted(counts.items()) if path not in paths]
    return (*listed, *forgotten)


def headline(count: int, boards: Sequence[Board]) -> str:
    """How many others there are, in how many checkouts and clones, and which of those could not be read."""
    checkouts = [board for board in boards if board.kind == "checkout"]
    missing = Counter(board.standing for board in checkouts if board.standing != "ready")
    told = "".join(f", {count} of them {standing}" for standing, count in sorted(missing.items()))
    clones = _clones_told(Counter(board.standing for board in boards if board.kind == "clone"))
    told += "," if told and clones.startswith(" and") else ""
    servers = Counter(board.standing for board in boards if board.kind == "server")
    others = "".join(f", {_counted(count, 'other server')} {standing}" for standing, count in sorted(servers.items()))
    return f"{_counted(count, 'other session')} in {_counted(len(checkouts), 'checkout')}{told}{clones}{others}"


def board_rows(boards: Iterable[Board]) -> list[str]:
    """A line for each board that is not simply there."""
    return [
        f"{_place(board)} is {board.standing}: {clean(board.reason or '', 400)}"
        for board in boards
        if board.standing != "ready"
    ]


def _board(checkout: Checkout, counts: Counter[str]) -> Board:
    path = wire(checkout.root)
    standing, reason = _standing(checkout)
    return Board(
        kind="checkout", name=_name(path), path=path, standing=standing, reason=reason, count=counts.get(path, 0)
    )


def _forgotten(path: str, count: int) -> Board:
    reason = "git lists no such checkout any more"
    return Board(kind="checkout", name=_name(path), path=path, standing="gone", reason=reason, count=count)


def _standing(checkout: Checkout) -> tuple[str, str | None]:
    if checkout.gone:
        locked = f"; it is locked: {wire(checkout.locked)}" if checkout.locked else ""
        return "gone", f"its folder is missing{locked}; git worktree prune forgets it"
    if checkout.prunable is not None:
        return "prunable", wire(checkout.prunable) or "git would prune it"
    return "ready", None


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path


def _clones_told(standings: Counter[str]) -> str:
    """The clones that were read, then the rest by their standings: ` and 2 clones, 1 clone silent`."""
    ready = standings.pop("ready", 0)
    read = f" and {_counted(ready, 'clone')}" if ready else ""
    return read + "".join(f", {_counted(count, 'clone')} {standing}" for standing, count in sorted(standings.items()))


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _place(board: Board) -> str:
    """A clone goes by its path, since clones of one repository mostly have one name."""
    if board.kind == "server":
        return f"another server of {clean(board.path or board.name, 400)}"
    return f"clone {clean(board.path or board.name, 400)}" if board.kind == "clone" else clean(board.name, 60)
