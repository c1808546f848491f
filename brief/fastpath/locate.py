"""Where a folder stands in git, read from files alone: no process is started.

The layout is git's own (gitrepository-layout): a work tree holds `.git`, a folder or a file `gitdir: PATH`;
a linked work tree's git folder holds `commondir`, a path to the folder that all of them share.
"""

from __future__ import annotations

import os

POLICY = ".ai/repo/policy.yaml"
"""Where a checkout keeps its policy."""

_MOST = 65_536


class NotLocatedError(Exception):
    """No checkout is here; the sentence says what was found instead."""


class Located:
    """A checkout: its work tree `root`, its own `git_dir`, and the `common_dir` that all checkouts share."""

    __slots__ = ("common_dir", "git_dir", "root")

    def __init__(self, root: str, git_dir: str, common_dir: str) -> None:
        self.root = root
        self.git_dir = git_dir
        self.common_dir = common_dir

    @property
    def name(self) -> str:
        """The root as text that travels: bytes of it that are no UTF-8 are spelled out, with a backslash and `xNN`."""
        return spelled(self.root)


def spelled(path: str) -> str:
    """A path as text that travels: see `Located.name`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def read_small(path: str) -> str | None:
    """The text of a small file, names kept as the file system has them; None where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.fsdecode(os.read(descriptor, _MOST))
    except OSError:
        return None
    finally:
        os.close(descriptor)


def current_folder() -> str:
    """The folder this process stands in; raises NotLocatedError where it was removed."""
    try:
        return os.getcwd()
    except OSError:
        raise NotLocatedError("the current folder is gone; go to another, or name a checkout with --root") from None


def locate(start: str) -> Located:
    """The checkout that holds the folder `start`; raises NotLocatedError with a sentence."""
    if not os.path.isabs(start):
        start = os.path.join(current_folder(), start)
    here = os.path.realpath(start)
    if not os.path.isdir(here):
        raise NotLocatedError(f"{start} is not a folder; name one inside a git checkout with --root")
    folder = here
    while True:
        marker = os.path.join(folder, ".git")
        if os.path.isdir(marker) and _is_git_dir(marker):
            git_dir = os.path.realpath(marker)
            return Located(folder, git_dir, _common_dir(git_dir))
        if os.path.isfile(marker):
            return _linked(folder, marker)
        if _is_git_dir(folder):
            raise NotLocatedError(_inside_git_dir(folder))
        parent = os.path.dirname(folder)
        if parent == folder:
            raise NotLocatedError(f"{here} is not in a git repository; go to a checkout, or name one with --root")
        folder = parent


def has_policy(here: Located) -> bool:
    """Whether a checkout has a policy file, whatever is in it."""
    return os.path.exists(f"{here.root}/{POLICY}")


def _is_git_dir(folder: str) -> bool:
    """Whether git itself would take `folder` for a git folder."""
    if not os.path.lexists(folder + "/HEAD"):
        return False
    if os.path.isfile(folder + "/commondir"):
        return True
    return os.path.isdir(folder + "/objects") and os.path.isdir(folder + "/refs")


def _linked(root: str, marker: str) -> Located:
    text = (read_small(marker) or "").rstrip("\r\n")
    if not text.startswith("gitdir: ") or "\0" in text:
        raise NotLocatedError(f"{marker} does not name a git folder; mend it, or run git worktree repair")
    git_dir = os.path.realpath(os.path.join(root, text.removeprefix("gitdir: ")))
    if not _is_git_dir(git_dir):
        raise NotLocatedError(
            f"{marker} names {git_dir}, which is no git folder: the work tree was pruned or moved; run git worktree repair"
        )
    return Located(root, git_dir, _common_dir(git_dir))


def _common_dir(git_dir: str) -> str:
    named = (read_small(git_dir + "/commondir") or "").rstrip("\r\n")
    if "\0" in named:
        raise NotLocatedError(f"{git_dir}/commondir does not name a git folder; run git worktree repair")
    return os.path.realpath(os.path.join(git_dir, named))


def _inside_git_dir(folder: str) -> str:
    if os.path.basename(folder) == ".git" or os.path.isfile(folder + "/commondir"):
        return f"{folder} is the inside of a git folder, not a checkout; go to the work tree"
    return f"{folder} is a bare repository and has no checkout; go to one of its work trees, or name one with --root"
