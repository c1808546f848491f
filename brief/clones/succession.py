"""The servers of one repository: a superseded one finds its successor, and a new one finds its predecessors."""

from __future__ import annotations

import json
from collections.abc import Callable

from msgspec import DecodeError

from brief.clones.asking import ask_server
from brief.clones.entries import Entry, folder_id, is_gone, read_entries
from brief.clones.neighbours import Neighbourhood
from brief.core.model.wire import from_json
from brief.core.text.sanitize import clean, to_wire
from brief.fastpath.lease import NoServerError, read_lease

OUT_OF_REACH = "this server is superseded, so its own board is out of reach of the other sessions of the repository"
"""The sentence for which its peers are always partial."""


def ask_successor(common_dir: str, root: str, epoch: int) -> Neighbourhood:
    """The board of the server that took over `common_dir` after `epoch`. `root` is one of the checkouts.

    One hop: the successor is asked only for its own board, and so asks nobody in turn.
    """
    try:
        entry = _find_successor(common_dir, epoch).replace(root=to_wire(root))
    except NoServerError as fault:
        return Neighbourhood((), (OUT_OF_REACH, clean(str(fault), 600)))
    holder = ask_server(entry, kind="server")
    return Neighbourhood((holder,), (OUT_OF_REACH,))


def _find_successor(common_dir: str, epoch: int) -> Entry:
    """The holder that the lease names. Raises NoServerError."""
    record = read_lease(common_dir)
    if record["epoch"] <= epoch:
        raise NoServerError("nobody has taken the lease since; run majordomus serve ensure")
    named = {name: record[name] for name in Entry.__struct_fields__ if name in record}
    try:
        return from_json(Entry, json.dumps(named | {"common_dir": to_wire(common_dir)}))
    except DecodeError:
        raise NoServerError("the lease of this repository is damaged; run majordomus serve ensure") from None


class Predecessors:
    """The servers of a repository that still run although their state folder was moved away or replaced.

    `folder` is that of the entries. `stored` is the highest epoch that wrote into the database at hand: what a server of a
    higher one has stored lies somewhere else.
    """

    def __init__(self, folder: str, common_dir: str, stored: Callable[[], int]) -> None:
        place, path = folder_id(common_dir), to_wire(common_dir)
        entries = [
            entry
            for entry in read_entries(folder).entries
            if entry.common_dir == path or (place is not None and entry.folder == place)
        ]
        last = stored() if entries else 0
        self._entries = [entry for entry in entries if entry.epoch > last]

    def describe(self) -> str | None:
        """A sentence about those that hold sessions, or may. None if none does any more. Blocks for 250 ms each."""
        self._entries = [entry for entry in self._entries if not is_gone(entry)]
        return "; ".join(filter(None, map(_describe_held, self._entries))) or None


def _describe_held(entry: Entry) -> str | None:
    answer = ask_server(entry, kind="server")
    held = sum(peer.source == "registered" for peer in answer.peers)
    if not held and answer.gap is None:
        return None
    sessions = "may hold sessions" if not held else f"holds {held} session{'' if held == 1 else 's'}"
    return (
        f"an earlier server (epoch {entry.epoch}, pid {entry.pid}) still runs and {sessions}, whose tasks and claims are not "
        "in the database at hand: the state folder was moved away or replaced under it"
    )
