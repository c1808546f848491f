"""Whether a checkout is gone for good: its folder, and what git keeps of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from brief.core.text.sanitize import wire
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.support.files import UnreadableFileError, read_bounded, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brief.fastpath.known import Reading

_MOST_BYTES = 65_536


def find_checkout(common_dir: str, root: str) -> Reading[str]:
    """A checkout by its `root`, spelled as on the wire: the folder, or what git keeps of one whose folder is away.

    A worktree whose folder was moved, or lies on a drive that is not mounted, has its entry below `worktrees/` until
    `git worktree remove` or `prune` drops it (gitrepository-layout). Absent where neither is left.
    """
    try:
        os.lstat(root)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as fault:
        return Unknown(f"cannot be looked at: {reason_of(fault)}")
    else:
        return Known(root)
    if "\\" in root:
        return Unknown("has a name that is no UTF-8 and is spelled out, so its folder cannot be looked for")
    try:
        os.lstat(f"{common_dir}/HEAD")  # or the whole repository may be on a drive that is not mounted
        found = next((git_dir for git_dir, roots in _entries(common_dir) if root in roots), None)
    except (OSError, UnreadableFileError) as fault:
        return Unknown(f"may be one of {common_dir}/worktrees, which cannot be read: {fault}")
    return Known(found) if found is not None else ABSENT


def _entries(common_dir: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The git folder of each linked work tree, and its root, as written and as a real path.

    Raises OSError or UnreadableFileError where that cannot be told of all of them.
    """
    folder = f"{common_dir}/worktrees"
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    for name in names:
        marker = os.fsdecode(read_bounded(f"{folder}/{name}/gitdir", _MOST_BYTES)).rstrip("\r\n")
        root = os.path.dirname(os.path.normpath(os.path.join(folder, name, marker)))
        yield f"{folder}/{name}", (wire(root), wire(os.path.realpath(root)))
