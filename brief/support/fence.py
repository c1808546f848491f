"""Whether this process may write for its repository: a server only while it holds the lease (a fencing check).

Every write of a file goes through `refuse_if_superseded`, right before what makes it visible. A command that is no
server holds no lease, and nothing is refused to it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from brief.core.model.errors import SupersededError

_holds: list[Callable[[], bool]] = []


@contextlib.contextmanager
def held_by(is_held: Callable[[], bool]) -> Iterator[None]:
    """For as long as the block runs, refuse every write of this process at a moment when `is_held` says no."""
    _holds.append(is_held)
    try:
        yield
    finally:
        _holds.remove(is_held)


def refuse_if_superseded() -> None:
    """Raise SupersededError where this process serves a repository whose lease it does not hold (any more)."""
    if not all(is_held() for is_held in _holds):
        raise SupersededError(
            "this server no longer holds its repository and writes nothing more; run majordomus serve ensure and ask again"
        )
