"""Whether a checkout is gone for good: neither its folder nor git's entry for it is left."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from brief.core.text.sanitize import to_wire
from brief.fastpath.known import ABSENT, Known, Unknown
from brief.support.files import UnreadableFileError, read_bounded, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brief.fastpath.known import Reading

_MOST_BYTES = 65_536


def find_checkout(common_dir: str, root: str) -> Reading[str]:
    """Find the checkout at `root`, spelled as on the wire: its folder, or git's entry for it if the folder is missing.

    A work tree whose folder was moved, or is on a drive that is not mounted, keeps its entry below `worktrees/` until
    `git worktree remove` or `prune` deletes it (gitrepository-layout). ABSENT if neither is left.
    """
    try:
        os.lstat(root)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as fault:
        return Unknown(f"cannot be accessed: {reason_of(fault)}")
    else:
        return Known(root)
    if "\\" in root:
        return Unknown("has a name that is not UTF-8 and is escaped, so its folder cannot be looked up")
    try:
        os.lstat(f"{common_dir}/HEAD")  # otherwise the whole repository may be on a drive that is not mounted
        found = next((git_dir for git_dir, roots in _read_entries(common_dir) if root in roots), None)
    except (OSError, UnreadableFileError) as fault:
        return Unknown(f"may be one of {common_dir}/worktrees, which cannot be read: {reason_of(fault)}")
    return Known(found) if found is not None else ABSENT


def _read_entries(common_dir: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The git folder of each linked work tree with its root, as written and resolved.

    Raises OSError or UnreadableFileError if any of them cannot be read.
    """
    folder = f"{common_dir}/worktrees"
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    for name in names:
        marker = os.fsdecode(read_bounded(f"{folder}/{name}/gitdir", _MOST_BYTES)).rstrip("\r\n")
        root = os.path.dirname(os.path.normpath(os.path.join(folder, name, marker)))
        yield f"{folder}/{name}", (to_wire(root), to_wire(os.path.realpath(root)))
