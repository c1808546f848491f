"""The worktree entries that git keeps but does not list: it silently skips an entry that it cannot read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from brief.fastpath.known import ABSENT, Known, Unknown
from brief.git.worktrees import Checkout, entry_root

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
    known = {name: entry_root(f"{folder}/{name}") for name in left}
    return Known(tuple(name for name, root in known.items() if not isinstance(root, Known) or root.value not in roots))
