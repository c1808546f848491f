"""The boards of the peers section: one for each checkout git lists, and one for each that only a session remembers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from brief.core.model.brief import Board, Peer
from brief.core.text.sanitize import clean, wire
from brief.fastpath.known import ABSENT, Unknown
from brief.git.worktrees import Checkout

if TYPE_CHECKING:
    from brief.fastpath.known import Reading


def checkout_boards(
    worktrees: Sequence[Checkout], peers: Iterable[Peer], find: Callable[[str], Reading[str]]
) -> tuple[Board, ...]:
    """The boards of one server, each with the count of its sessions; `find` looks for a checkout that git does not list.

    A bare repository is no checkout. A session stands where git lists none once `core.bare` was set, and at the root of
    a layout with a bare repository inside.
    """
    counts = Counter(peer.checkout for peer in peers)
    listed = [_board(checkout, counts) for checkout in worktrees if not checkout.bare]
    paths = {board.path for board in listed}
    is_bare = any(checkout.bare for checkout in worktrees)
    unlisted = [
        _unlisted(path, count, find(path), is_bare=is_bare)
        for path, count in sorted(counts.items())
        if path not in paths
    ]
    return (*listed, *unlisted)


def headline(count: int, boards: Sequence[Board]) -> str:
    """How many others there are, in how many checkouts and clones, and which of those could not be read."""
    checkouts = [board for board in boards if board.kind == "checkout"]
    missing = Counter(board.condition for board in checkouts if board.condition != "ready")
    told = "".join(f", {count} of them {condition}" for condition, count in sorted(missing.items()))
    clones = _clones_told(Counter(board.condition for board in boards if board.kind == "clone"))
    told += "," if told and clones.startswith(" and") else ""
    servers = Counter(board.condition for board in boards if board.kind == "server")
    others = "".join(f", {_counted(count, 'other server')} {condition}" for condition, count in sorted(servers.items()))
    return f"{_counted(count, 'other session')} in {_counted(len(checkouts), 'checkout')}{told}{clones}{others}"


def board_rows(boards: Iterable[Board]) -> list[str]:
    """A line for each board that is not simply there."""
    return [
        f"{_place(board)} is {board.condition}: {clean(board.reason or '', 400)}"
        for board in boards
        if board.condition != "ready"
    ]


def _board(checkout: Checkout, counts: Counter[str]) -> Board:
    path = wire(checkout.root)
    count = counts.get(path, 0)
    condition, reason = _condition(checkout, count)
    return Board(kind="checkout", name=_name(path), path=path, condition=condition, reason=reason, count=count)


def _unlisted(path: str, count: int, found: Reading[str], *, is_bare: bool) -> Board:
    """A checkout that only sessions remember. It is gone where git keeps nothing of it, else away: it may come back."""
    if found is ABSENT:
        condition, reason = "gone", "it was removed, and a session of it runs on"
    elif isinstance(found, Unknown):
        condition, reason = "away", f"git does not list it, and it {found.reason}"
    else:
        why = ": the repository is bare (core.bare), and so it has no checkout there" if is_bare else ""
        condition, reason = "away", f"git does not list it{why}"
    return Board(kind="checkout", name=_name(path), path=path, condition=condition, reason=reason, count=count)


def _condition(checkout: Checkout, count: int) -> tuple[str, str | None]:
    """How a checkout that git lists stands. A missing folder comes back with its drive, or with a session that moved it."""
    if checkout.gone and checkout.locked is not None:
        why = f": {wire(checkout.locked).strip()}" if checkout.locked else ""
        return "away", f"its folder is missing, and it is locked{why}; git worktree unlock lets git prune it"
    if checkout.gone and count:
        return "away", f"its folder is missing, and {_counted(count, 'session')} of it may run on"
    if checkout.gone:
        return "gone", "its folder is missing; git worktree prune forgets it"
    if checkout.prunable is not None:
        return "prunable", wire(checkout.prunable) or "git would prune it"
    return "ready", None


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path


def _clones_told(conditions: Counter[str]) -> str:
    """The clones that were read, then the rest by their conditions: ` and 2 clones, 1 clone silent`."""
    ready = conditions.pop("ready", 0)
    read = f" and {_counted(ready, 'clone')}" if ready else ""
    return read + "".join(
        f", {_counted(count, 'clone')} {condition}" for condition, count in sorted(conditions.items())
    )


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _place(board: Board) -> str:
    """A clone goes by its path, since clones of one repository mostly have one name."""
    if board.kind == "server":
        return f"another server of {clean(board.path or board.name, 400)}"
    return f"clone {clean(board.path or board.name, 400)}" if board.kind == "clone" else clean(board.name, 60)
