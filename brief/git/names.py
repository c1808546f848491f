"""Names of branches. They are bytes, kept by `os.fsdecode`; `core.text.sanitize.wire` makes them fit for the wire."""

from __future__ import annotations

HEADS = "refs/heads/"
REMOTES = "refs/remotes/"


def short_name(ref: str) -> str:
    """The name a person uses for a full ref name: `main`, `origin/main`."""
    return ref.removeprefix(HEADS).removeprefix(REMOTES)
