"""`statusline` when the fast path cannot print it."""

from __future__ import annotations

import argparse

from brief.fastpath.statusline import run_statusline
from brief.git.ownership import accept_by_git


def print_statusline(args: argparse.Namespace) -> int:  # noqa: ARG001 - every action is run alike
    """Print the line, asking git whether it accepts a git folder that another user owns."""
    return run_statusline(accept_by_git)
