"""`statusline`: what the fast path leaves of it."""

from __future__ import annotations

import argparse

from brief.fastpath.statusline import statusline
from brief.git.ownership import accept_by_git


def print_statusline(args: argparse.Namespace) -> int:  # noqa: ARG001 - every action is run alike
    """Print the line; git is asked whether it accepts a git folder of somebody else."""
    return statusline(accept_by_git)
