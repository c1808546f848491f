from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox import Lab


@pytest.fixture(scope="session")
def served() -> Iterator[Lab]:
    """A lab with a server and two worktrees. Tests only read it."""
    with Lab("reposit óř") as made:
        made.commit()
        made.worktree("linked")
        made.start_server()
        yield made
