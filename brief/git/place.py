"""The checkout that a call is about."""

from __future__ import annotations

from collections.abc import Iterable

from brief.core.model.brief import Repository
from brief.core.model.errors import RepositoryError
from brief.core.text.sanitize import wire
from brief.fastpath.locate import Located, NotLocatedError, locate
from brief.git.worktrees import Checkout


def checkout_at(path: str) -> Located:
    """The checkout that holds the folder `path`, from files alone; raises RepositoryError."""
    try:
        return locate(path)
    except NotLocatedError as error:
        raise RepositoryError(str(error)) from error
    except ValueError as error:  # a NUL byte, say
        raise RepositoryError(f"{path[:200]!r} can be no folder: {error}") from error


def repository(here: Located, checkouts: Iterable[Checkout]) -> Repository:
    """The brief's own words for where it was asked; raises RepositoryError where git no longer lists `here`."""
    listed = {checkout.git_dir: checkout for checkout in checkouts}
    own, primary = listed.get(here.git_dir), listed.get(here.common_dir)
    if own is None or primary is None:
        raise RepositoryError(f"git does not list {here.root} as a work tree; run git worktree repair in it")
    return Repository(
        root=wire(here.root),
        common_dir=wire(here.common_dir),
        primary=wire(here.root if own.primary else primary.root),
        branch=wire(own.branch) if own.branch is not None else None,
        head=own.head,
        detached=own.detached,
    )
