"""The checkout around a folder, its HEAD, and its primary checkout."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from brief.core.model.brief import Repository
from brief.core.model.errors import GitError, RepositoryError
from brief.core.text.sanitize import clean, to_wire
from brief.fastpath.known import Absent, Known, Unknown
from brief.fastpath.locate import Located, NotLocatedError, locate
from brief.git.head import Head, is_in_tables, listed_head, read_head
from brief.git.worktrees import Checkout, read_text

if TYPE_CHECKING:
    from brief.fastpath.known import Reading

# `core.worktree`, which git sets for a submodule.
_WORK_TREE = re.compile(r"(?im)^[ \t]*worktree[ \t]*=[ \t]*(.+?)[ \t]*$")


def checkout_at(path: str) -> Located:
    """The checkout that holds the folder `path`, from files alone. Raises RepositoryError."""
    try:
        here = locate(path)
    except NotLocatedError as error:
        raise RepositoryError(str(error)) from error
    except ValueError as error:  # a NUL byte, say
        raise RepositoryError(f"{path[:200]!r} cannot be a folder: {error}") from error
    if here.git_dir != here.common_dir and not os.path.lexists(f"{here.git_dir}/gitdir"):
        raise RepositoryError(f"git does not list {to_wire(here.root)} as a work tree; run git worktree repair in it")
    return here


def describe_repository(here: Located, head: Reading[Head]) -> Repository:
    """Describe a checkout for a brief, with its HEAD as far as it could be read."""
    known = head.value if isinstance(head, Known) else Head(None, None)
    return Repository(
        root=to_wire(here.root),
        common_dir=to_wire(here.common_dir),
        primary=to_wire(primary_root(here)),
        branch=to_wire(known.branch) if known.branch is not None else None,
        head=known.commit,
        detached=isinstance(head, Known) and known.detached,
        head_unread=_why_unread(head),
    )


def head_of(here: Located, listed: Callable[[], Sequence[Checkout]]) -> Reading[Head]:
    """The HEAD of a checkout: from its files, or from git's listing if only git can read its refs."""
    head = read_head(here.git_dir, here.common_dir)
    if not isinstance(head, Unknown) or not is_in_tables(here.git_dir):
        return head
    try:
        return listed_head(here.git_dir, listed())
    except GitError as fault:
        return Unknown(f"is in a reftable, and {fault.sentence}")


def primary_root(here: Located) -> str:
    """The root of the primary checkout, from files alone. If there is none, the git folder itself, as git lists it.

    Raises RepositoryError if the configuration, which may name it, cannot be read.
    """
    if here.git_dir == here.common_dir:
        return here.root
    parent, name = os.path.split(here.common_dir)
    if name == ".git":
        return parent
    config = read_text(f"{here.common_dir}/config")
    if isinstance(config, Unknown):
        raise RepositoryError(f"{config.reason}; git needs it too, so check its owner and mode")
    named = _WORK_TREE.search(config.value) if isinstance(config, Known) else None
    return os.path.realpath(os.path.join(here.common_dir, named[1].strip('"'))) if named else here.common_dir


def _why_unread(head: Reading[Head]) -> str | None:
    if isinstance(head, Unknown):
        return clean(f"HEAD {to_wire(head.reason)}", 400)
    return "HEAD is missing" if isinstance(head, Absent) else None
