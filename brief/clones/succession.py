"""What a superseded server can report: its own board, and that of the server that now holds the repository."""

from __future__ import annotations

import json

from msgspec import DecodeError

from brief.clones.asking import ask_server
from brief.clones.entries import Entry
from brief.clones.neighbours import Neighbourhood
from brief.core.model.wire import from_json
from brief.core.text.sanitize import clean, wire
from brief.fastpath.lease import NoServerError, read_lease

OUT_OF_REACH = "this server is superseded, so its own board is out of reach of the other sessions of the repository"
"""The sentence for which its peers are always partial."""


def ask_successor(common_dir: str, root: str, epoch: int) -> Neighbourhood:
    """The board of the server that took over `common_dir` after `epoch`. `root` is one of the checkouts.

    One hop: the successor is asked only for its own board, and so asks nobody in turn.
    """
    try:
        entry = _successor(common_dir, epoch).replace(root=wire(root))
    except NoServerError as fault:
        return Neighbourhood((), (OUT_OF_REACH, clean(str(fault), 600)))
    holder = ask_server(entry, kind="server")
    return Neighbourhood((holder,), (OUT_OF_REACH,))


def _successor(common_dir: str, epoch: int) -> Entry:
    """The holder that the lease names. Raises NoServerError."""
    record = read_lease(common_dir)
    if record["epoch"] <= epoch:
        raise NoServerError("nobody has taken the lease since; run majordomus serve ensure")
    named = {name: record[name] for name in Entry.__struct_fields__ if name in record}
    try:
        return from_json(Entry, json.dumps(named | {"common_dir": wire(common_dir)}))
    except DecodeError:
        raise NoServerError("the lease of this repository is damaged; run majordomus serve ensure") from None
