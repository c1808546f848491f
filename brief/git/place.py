"""The checkout that a call is about."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from brief.core.model.brief import Repository
from brief.core.model.errors import GitError, RepositoryError
from brief.core.text.sanitize import clean, wire
from brief.fastpath.known import Absent, Known, Unknown
from brief.fastpath.locate import Located, NotLocatedError, locate, read_small
from brief.git.head import Head, head_listed, is_in_tables, read_head
from brief.git.worktrees import Checkout

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

# `core.worktree`, which git writes for a submodule.
_WORK_TREE = re.compile(r"(?im)^[ \t]*worktree[ \t]*=[ \t]*(.+?)[ \t]*$")


def checkout_at(path: str) -> Located:
    """The checkout that holds the folder `path`, from files alone; raises RepositoryError."""
    try:
        here = locate(path)
    except NotLocatedError as error:
        raise RepositoryError(str(error)) from error
    except ValueError as error:  # a NUL byte, say
        raise RepositoryError(f"{path[:200]!r} can be no folder: {error}") from error
    if here.git_dir != here.common_dir and not os.path.lexists(f"{here.git_dir}/gitdir"):
        raise RepositoryError(f"git does not list {wire(here.root)} as a work tree; run git worktree repair in it")
    return here


def repository(here: Located, head: Reading[Head]) -> Repository:
    """The brief's own words for where it was asked, and what its HEAD names as far as that could be read."""
    known = head.value if isinstance(head, Known) else Head(None, None)
    return Repository(
        root=wire(here.root),
        common_dir=wire(here.common_dir),
        primary=wire(primary_root(here)),
        branch=wire(known.branch) if known.branch is not None else None,
        head=known.commit,
        detached=isinstance(head, Known) and known.detached,
        head_unread=_unread(head),
    )


def head_of(here: Located, listed: Callable[[], Sequence[Checkout]]) -> Reading[Head]:
    """What the HEAD of a checkout names: as its files say, or as git lists it where only git can read its refs."""
    head = read_head(here.git_dir, here.common_dir)
    if not isinstance(head, Unknown) or not is_in_tables(here.git_dir):
        return head
    try:
        return head_listed(here.git_dir, listed())
    except GitError as fault:
        return Unknown(f"is in a reftable, and {fault.sentence}")


def primary_root(here: Located) -> str:
    """The root of the primary checkout, from files alone: the git folder itself where it has none, as git lists it."""
    if here.git_dir == here.common_dir:
        return here.root
    parent, name = os.path.split(here.common_dir)
    if name == ".git":
        return parent
    named = _WORK_TREE.search(read_small(f"{here.common_dir}/config") or "")
    return os.path.realpath(os.path.join(here.common_dir, named[1].strip('"'))) if named else here.common_dir


def _unread(head: Reading[Head]) -> str | None:
    if isinstance(head, Unknown):
        return clean(f"HEAD {wire(head.reason)}", 400)
    return "HEAD is not there" if isinstance(head, Absent) else None
