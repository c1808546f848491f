"""Find the checkout that contains a folder by reading git's files, without starting a process.

The layout is git's own (gitrepository-layout). A work tree holds `.git`, which is a folder or a file `gitdir: PATH`. The
git folder of a linked work tree holds `commondir`, the path to the folder that all work trees share.
"""

from __future__ import annotations

import os

POLICY = ".ai/repo/policy.yaml"
LOCAL_POLICY = "majordomus/policy.yaml"
"""The clone's own policy, below the git folder."""

"""Where a checkout keeps its policy."""

_MOST = 65_536

accepted_roots: set[str] = set()
"""Other users' work trees that git accepts for this user (`safe.directory`). The whole command asks git and fills this."""


class NotLocatedError(Exception):
    """There is no checkout here. The message says what was found instead."""


class ForeignCheckoutError(NotLocatedError):
    """The path from a work tree to the user's git folder belongs partly to another user: git's "dubious ownership".

    `located` is the checkout, to be used if git accepts it.
    """

    def __init__(self, sentence: str, located: Located) -> None:
        super().__init__(sentence)
        self.located = located


class Located:
    """A checkout: its work tree `root`, its own `git_dir`, and the `common_dir` that all checkouts share."""

    __slots__ = ("common_dir", "git_dir", "root")

    def __init__(self, root: str, git_dir: str, common_dir: str) -> None:
        self.root = root
        self.git_dir = git_dir
        self.common_dir = common_dir

    @property
    def name(self) -> str:
        r"""The root as valid Unicode text. A byte that is not UTF-8 is written as `\xNN`."""
        return spell_path(self.root)


def spell_path(path: str) -> str:
    """A path as valid Unicode text; see `Located.name`."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def read_small(path: str) -> str | None:
    """The text of a small file, decoded as a file name would be. None if it cannot be read."""
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
    """The current folder of this process. Raises NotLocatedError if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        raise NotLocatedError("the current folder is gone; go to another, or name a checkout with --root") from None


def locate(start: str) -> Located:
    """Find the checkout that contains the folder `start`. Raises NotLocatedError, whose message is a sentence."""
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
            return _prove_path(Located(folder, git_dir, _common_dir(git_dir)), marker)
        if os.path.isfile(marker):
            return _prove_path(_locate_linked(folder, marker), marker)
        if _is_git_dir(folder):
            raise NotLocatedError(_inside_git_dir(folder))
        parent = os.path.dirname(folder)
        if parent == folder:
            raise NotLocatedError(f"{here} is not in a git repository; go to a checkout, or name one with --root")
        folder = parent


def _prove_path(here: Located, marker: str) -> Located:
    """Return `here`. Raises ForeignCheckoutError if the path to the user's git folder belongs partly to another user.

    This is git's own rule (`ensure_valid_ownership` in setup.c): work tree, `.git` and git folder have one owner. A git
    folder that belongs to another user is the concern of `proof.check_git_folder`.
    """
    user = os.geteuid()
    try:
        if os.stat(here.common_dir).st_uid != user or here.root in accepted_roots:
            return here
        owners = [(path, os.lstat(path).st_uid) for path in (here.root, marker, here.git_dir)]
    except OSError as fault:
        raise NotLocatedError(f"{here.root}: the owner of this checkout is unknown: {fault.strerror}") from None
    for path, owner in owners:
        if owner != user:
            raise ForeignCheckoutError(
                f"{path} belongs to uid {owner}, not to you, and leads to your git folder {here.common_dir}, so nothing is "
                f"read or asked; if you trust it, run git config --global --add safe.directory {here.root}",
                here,
            )
    return here


def primary_of(common_dir: str) -> str | None:
    """The root of the primary checkout, as the place of the git folder shows it. None for a bare repository or a submodule."""
    parent, name = os.path.split(common_dir)
    return parent if name == ".git" else None


def has_policy(here: Located) -> bool:
    """Whether a policy file, valid or not, is in force in a checkout: its own, the primary checkout's or the clone's."""
    primary = primary_of(here.common_dir) or here.root
    paths = (f"{here.root}/{POLICY}", f"{primary}/{POLICY}", f"{here.common_dir}/{LOCAL_POLICY}")
    return any(map(os.path.lexists, paths))


def _is_git_dir(folder: str) -> bool:
    """Whether git would accept `folder` as a git folder."""
    if not os.path.lexists(folder + "/HEAD"):
        return False
    if os.path.isfile(folder + "/commondir"):
        return True
    return os.path.isdir(folder + "/objects") and os.path.isdir(folder + "/refs")


def _locate_linked(root: str, marker: str) -> Located:
    content = read_small(marker)
    if content is None:
        raise NotLocatedError(f"{marker} cannot be read, so the repository is unknown; check its owner and mode")
    text = content.rstrip("\r\n")
    if not text.startswith("gitdir: ") or "\0" in text:
        raise NotLocatedError(f"{marker} does not name a git folder; correct it, or run git worktree repair")
    git_dir = os.path.realpath(os.path.join(root, text.removeprefix("gitdir: ")))
    if not _is_git_dir(git_dir):
        raise NotLocatedError(
            f"{marker} names {git_dir}, which is not a git folder: the work tree was pruned or moved; "
            "run git worktree repair"
        )
    return Located(root, git_dir, _common_dir(git_dir))


def _common_dir(git_dir: str) -> str:
    """The folder that all checkouts share; without a file `commondir` it is the git folder itself.

    Raises NotLocatedError if there is such a file and it cannot be read or understood.
    """
    path = git_dir + "/commondir"
    content = read_small(path)
    if content is None and not os.path.lexists(path):
        return os.path.realpath(git_dir)
    if content is None:
        raise NotLocatedError(f"{path} cannot be read, so the repository is unknown; check its owner and mode")
    named = content.rstrip("\r\n")
    if not named or "\0" in named:
        raise NotLocatedError(f"{path} does not name a git folder, so the repository is unknown; correct it")
    return os.path.realpath(os.path.join(git_dir, named))


def _inside_git_dir(folder: str) -> str:
    if os.path.basename(folder) == ".git" or os.path.isfile(folder + "/commondir"):
        return f"{folder} is inside a git folder, not in a checkout; go to the work tree"
    if _has_entries(folder + "/worktrees"):
        return (
            f"{folder} is a bare repository and has no checkout; go to one of its work trees, or name one with --root"
        )
    return (
        f"{folder} is a bare repository without a work tree; once it has a commit, make one with "
        "git worktree add PATH BRANCH and go there"
    )


def _has_entries(folder: str) -> bool:
    """Whether the folder holds anything, or cannot be listed."""
    try:
        return bool(os.listdir(folder))
    except FileNotFoundError:
        return False
    except OSError:
        return True
