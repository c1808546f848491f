"""Finds the checkout that a command is about."""

from __future__ import annotations

import argparse

from brief.core.model.errors import RepositoryError
from brief.core.text.sanitize import clean, to_wire
from brief.fastpath.locate import ForeignCheckoutError, Located, NotLocatedError, current_folder, locate
from brief.fastpath.main import unanswered
from brief.git.ownership import accept_by_git, accept_root_by_git


def locate_checkout(args: argparse.Namespace) -> Located:
    """Return the checkout that `--root` names, else the one around the current folder; raises RepositoryError."""
    try:
        here = _locate_accepted(args.root if args.root is not None else current_folder())
    except NotLocatedError as fault:
        raise RepositoryError(clean(to_wire(str(fault)), 1_000)) from None
    if accept_by_git(here.common_dir, here.root):
        unanswered.pop(here.common_dir, None)
    return here


def _locate_accepted(folder: str) -> Located:
    """Return the checkout around a folder, even another user's if git accepts it; raises NotLocatedError."""
    try:
        return locate(folder)
    except ForeignCheckoutError as fault:
        if not accept_root_by_git(fault.located.root):
            raise
        return locate(folder)
