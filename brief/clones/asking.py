"""Ask another server for the sessions on its own boards, and describe any outcome as a board."""

from __future__ import annotations

import os
from typing import Literal

from msgspec import DecodeError, Struct

from brief import __version__
from brief.clones.entries import Entry
from brief.core.model.brief import PeersSection
from brief.core.model.first_fault import first_fault
from brief.core.model.section_data import Board, Peer
from brief.core.model.wire import from_json
from brief.core.text.sanitize import clean
from brief.fastpath.ask import Answer, exchange_request, request_of
from brief.fastpath.lease import NoServerError
from brief.support.files import reason_of

ASK_SECONDS = 0.25
MOST_BYTES = 4 * 1024 * 1024

Kind = Literal["clone", "server"]
"""Whose server it is: a clone's, or another one of this same repository, which precedes or succeeds this server."""

NeighbourCondition = Literal["ready", "silent", "refused", "superseded", "other-version"]


class Neighbour(Struct, frozen=True):
    """Another server of the same history or the same repository: its board and its peers.

    `gap` is a sentence about what could not be read, None if everything was.
    """

    board: Board
    peers: tuple[Peer, ...] = ()
    gap: str | None = None


def ask_server(entry: Entry, seconds: float = ASK_SECONDS, kind: Kind = "clone") -> Neighbour:
    """Ask one server, for at most `seconds`. Never raises: a failure is a neighbour whose condition says so."""
    question = [("root", entry.root or entry.common_dir), ("local", "true")]
    try:
        request = request_of("GET", "/peers", question)
        answer = exchange_request(
            entry.socket, entry.common_dir, entry.epoch, request, seconds=seconds, most=MOST_BYTES
        )
    except (TimeoutError, BlockingIOError):
        return make_unread(
            entry, "silent", f"its server (pid {entry.pid}) gave no answer within {seconds * 1000:.0f} ms", kind
        )
    except NoServerError as fault:
        return make_unread(entry, "refused", str(fault), kind)
    except OSError as fault:
        return make_unread(entry, "refused", f"its server (pid {entry.pid}) cannot be asked: {reason_of(fault)}", kind)
    return _read_answer(entry, answer, kind)


def make_unread(entry: Entry, condition: NeighbourCondition, reason: str, kind: Kind = "clone") -> Neighbour:
    """The neighbour for a server whose boards could not be read."""
    board = _make_board(entry, condition, reason, None, kind)
    return Neighbour(board, gap=f"{_name_of(board)} is {condition}: {clean(reason, 400)}")


def mark_superseded(entry: Entry, answer: Neighbour) -> Neighbour:
    """Mark the answer of a server that a newer one has replaced as superseded. Keeps its count, if it gave one."""
    reason = f"a newer server holds its repository; epoch {entry.epoch} (pid {entry.pid}) writes nothing more"
    return Neighbour(answer.board.replace(condition="superseded", reason=reason), answer.peers)


def _read_answer(entry: Entry, answer: Answer, kind: Kind) -> Neighbour:
    neighbour = _read_body(entry, answer, kind)
    if answer.headers.get("majordomus-lease") == "superseded":
        reason = f"epoch {entry.epoch} (pid {entry.pid}) lost its lock and writes nothing more"
        return Neighbour(_make_board(entry, "superseded", reason, neighbour.board.count, kind), neighbour.peers)
    return neighbour


def _read_body(entry: Entry, answer: Answer, kind: Kind) -> Neighbour:
    section, fault = _read_section(answer)
    if section is None:
        if entry.version == __version__:
            return make_unread(entry, "refused", fault, kind)
        versions = f"its server has version {clean(entry.version, 40)} and this one {__version__}"
        return make_unread(entry, "other-version", f"{fault}; {versions}", kind)
    if section.data is None:
        return make_unread(entry, "refused", section.reason or section.headline, kind)
    peers = section.data.peers
    board = _make_board(entry, "ready", None, len(peers), kind)
    gap = None if section.fully_read else f"{_name_of(board)}: {clean(section.reason or '', 400)}"
    return Neighbour(board, peers, gap)


def _read_section(answer: Answer) -> tuple[PeersSection | None, str]:
    """The peers section in the answer, or None and the reason why there is none."""
    if answer.status != 200:
        return None, f"it answered {answer.status}: {clean(answer.error() or 'it gave no reason', 300)}"
    try:
        return from_json(PeersSection, answer.body), ""
    except DecodeError as fault:
        return None, f"its answer is not a peers section ({clean(str(first_fault(fault)), 300)})"


def _name_of(board: Board) -> str:
    path = clean(board.path or "", 400)
    return f"clone {path}" if board.kind == "clone" else f"the other server of {path}"


def _make_board(
    entry: Entry, condition: NeighbourCondition, reason: str | None, count: int | None, kind: Kind
) -> Board:
    path = entry.root or entry.common_dir
    name = os.path.basename(path.rstrip("/")) or path
    return Board(kind=kind, name=name, path=path, condition=condition, reason=reason, count=count)
