"""The fencing check: a server may write for its repository only while it holds the lease.

Every write of a file calls `refuse_if_superseded` right before the step that makes it visible. A command that is not a
server holds no lease and is never refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from brief.core.model.errors import SupersededError

_holds: list[Callable[[], bool]] = []


@contextlib.contextmanager
def held_by(is_held: Callable[[], bool]) -> Iterator[None]:
    """While the block runs, refuse this process's writes whenever `is_held` returns False."""
    _holds.append(is_held)
    try:
        yield
    finally:
        _holds.remove(is_held)


def refuse_if_superseded() -> None:
    """Raise SupersededError if this process serves a repository whose lease it does not hold, or no longer holds."""
    if not all(is_held() for is_held in _holds):
        raise SupersededError(
            "this server no longer holds its repository and writes nothing more; run majordomus serve ensure and ask again"
        )
