"""The boards of the peers section: one for each checkout that git lists, one for each that only a session names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from brief.core.model.section_data import Board, Peer
from brief.core.text.sanitize import clean, to_wire
from brief.fastpath.known import ABSENT, Unknown
from brief.git.worktrees import Checkout

if TYPE_CHECKING:
    from brief.fastpath.known import Reading


def checkout_boards(
    worktrees: Sequence[Checkout], peers: Iterable[Peer], find: Callable[[str], Reading[str]]
) -> tuple[Board, ...]:
    """The boards of one server, each with its number of sessions. `find` looks up a checkout that git does not list.

    A bare repository is not a checkout. Yet a session may run where git lists none: where `core.bare` was set later, and
    at the root of a layout with a bare repository inside.
    """
    counts = Counter(peer.checkout for peer in peers)
    listed = [_make_board(checkout, counts) for checkout in worktrees if not checkout.bare]
    paths = {board.path for board in listed}
    is_bare = any(checkout.bare for checkout in worktrees)
    unlisted = [
        _unlisted_board(path, count, find(path), is_bare=is_bare)
        for path, count in sorted(counts.items())
        if path not in paths
    ]
    return (*listed, *unlisted)


def make_headline(count: int, boards: Sequence[Board]) -> str:
    """The number of other sessions, of checkouts and of clones, and which of these could not be read."""
    checkouts = [board for board in boards if board.kind == "checkout"]
    missing = Counter(board.condition for board in checkouts if board.condition != "ready")
    not_ready = "".join(f", {count} of them {condition}" for condition, count in sorted(missing.items()))
    clones = _count_clones(Counter(board.condition for board in boards if board.kind == "clone"))
    not_ready += "," if not_ready and clones.startswith(" and") else ""
    servers = Counter(board.condition for board in boards if board.kind == "server")
    others = "".join(f", {_count(count, 'other server')} {condition}" for condition, count in sorted(servers.items()))
    return f"{_count(count, 'other session')} in {_count(len(checkouts), 'checkout')}{not_ready}{clones}{others}"


def board_rows(boards: Iterable[Board]) -> list[str]:
    """A line for each board that is not ready."""
    return [
        f"{_describe_place(board)} is {board.condition}: {clean(board.reason or '', 400)}"
        for board in boards
        if board.condition != "ready"
    ]


def _make_board(checkout: Checkout, counts: Counter[str]) -> Board:
    path = to_wire(checkout.root)
    count = counts.get(path, 0)
    condition, reason = _find_condition(checkout, count)
    return Board(kind="checkout", name=_name(path), path=path, condition=condition, reason=reason, count=count)


def _unlisted_board(path: str, count: int, found: Reading[str], *, is_bare: bool) -> Board:
    """A checkout that only sessions name. It is gone if git keeps no record of it, else away: it may come back."""
    if found is ABSENT:
        condition, reason = "gone", "it was removed, but a session is still open in it"
    elif isinstance(found, Unknown):
        condition, reason = "away", f"git does not list it, and it {found.reason}"
    else:
        why = ": the repository is bare (core.bare), so it has no checkout there" if is_bare else ""
        condition, reason = "away", f"git does not list it{why}"
    return Board(kind="checkout", name=_name(path), path=path, condition=condition, reason=reason, count=count)


def _find_condition(checkout: Checkout, count: int) -> tuple[str, str | None]:
    """The condition of a checkout that git lists. A missing folder may come back with its drive, or have been moved."""
    if checkout.gone and checkout.locked is not None:
        why = f": {to_wire(checkout.locked).strip()}" if checkout.locked else ""
        return (
            "away",
            f"its folder is missing, and it is locked{why}; if the folder is on a removable drive, mount that",
        )
    if checkout.gone and count:
        return "away", f"its folder is missing, and {_count(count, 'session')} may still run in it"
    if checkout.gone:
        return "gone", "its folder is missing; if it was deleted for good, git worktree prune removes its record"
    if checkout.prunable is not None:
        return "prunable", to_wire(checkout.prunable) or "git would prune it"
    return "ready", None


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path


def _count_clones(conditions: Counter[str]) -> str:
    """The number of clones that were read, then of the others by condition: ` and 2 clones, 1 clone silent`."""
    ready = conditions.pop("ready", 0)
    read = f" and {_count(ready, 'clone')}" if ready else ""
    return read + "".join(f", {_count(count, 'clone')} {condition}" for condition, count in sorted(conditions.items()))


def _count(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _describe_place(board: Board) -> str:
    """A clone is named by its path, since the clones of a repository usually share a name."""
    if board.kind == "server":
        return f"another server of {clean(board.path or board.name, 400)}"
    return f"clone {clean(board.path or board.name, 400)}" if board.kind == "clone" else clean(board.name, 60)
