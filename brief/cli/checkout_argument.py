"""Which checkout a command is about."""

from __future__ import annotations

import argparse

from brief.core.model.errors import RepositoryError
from brief.core.text.sanitize import clean, wire
from brief.fastpath.locate import Located, NotLocatedError, current_folder, locate
from brief.fastpath.main import unanswered
from brief.git.ownership import accept_by_git


def located(args: argparse.Namespace) -> Located:
    """The checkout that was named, or the one around the current folder; raises RepositoryError."""
    try:
        here = locate(args.root if args.root is not None else current_folder())
    except NotLocatedError as fault:
        raise RepositoryError(clean(wire(str(fault)), 1_000)) from None
    if accept_by_git(here.common_dir, here.root):
        unanswered.pop(here.common_dir, None)
    return here
