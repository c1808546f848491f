"""Names of branches. They are bytes decoded with `os.fsdecode`; `core.text.sanitize.to_wire` encodes them for the wire."""

from __future__ import annotations

HEADS = "refs/heads/"
REMOTES = "refs/remotes/"


def short_name(ref: str) -> str:
    """The short form of a full ref name: `main`, `origin/main`."""
    return ref.removeprefix(HEADS).removeprefix(REMOTES)
