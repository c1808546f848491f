"""The worktree entries that git keeps but does not list: it silently skips an entry that it cannot read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from brief.fastpath.known import ABSENT, Known, Unknown
from brief.fastpath.locate import read_small
from brief.git.worktrees import Checkout

if TYPE_CHECKING:
    from brief.fastpath.known import Reading


def unlisted_entries(common_dir: str, listed: Sequence[Checkout]) -> Reading[tuple[str, ...]]:
    """The names below `worktrees/` of the git folder that belong to none of the listed checkouts, sorted.

    ABSENT if the repository never had a linked work tree, Unknown with the system's reason if the folder cannot be
    listed.
    """
    folder = f"{common_dir}/worktrees"
    try:
        with os.scandir(folder) as found:
            names = sorted(entry.name for entry in found if entry.is_dir())
    except FileNotFoundError:
        return ABSENT
    except OSError as error:
        return Unknown(f"{folder} cannot be listed: {error.strerror}")
    git_dirs = {checkout.git_dir for checkout in listed}
    left = [name for name in names if f"{folder}/{name}" not in git_dirs]
    if not left:
        return Known(())
    # After a copy, two entries may name the same folder: git lists both with the same root.
    roots = {os.path.realpath(checkout.root) for checkout in listed}
    return Known(tuple(name for name in left if _root(f"{folder}/{name}") not in roots))


def _root(git_dir: str) -> str | None:
    marker = (read_small(f"{git_dir}/gitdir") or "").rstrip("\n")
    return os.path.realpath(os.path.dirname(os.path.join(git_dir, marker))) if marker else None
