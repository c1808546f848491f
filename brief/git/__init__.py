"""What git knows, asked so that nothing in the repository changes."""

from brief.git.branches import base_branch
from brief.git.checkout_presence import find_checkout
from brief.git.command import GitTimeoutError, run, seat
from brief.git.names import short_name
from brief.git.place import checkout_at, head_of, primary_root, repository
from brief.git.quarantine import quarantine
from brief.git.roots import root_commits
from brief.git.worktree_cache import WorktreeCache
from brief.git.worktrees import Checkout, worktrees

__all__ = [
    "Checkout",
    "GitTimeoutError",
    "WorktreeCache",
    "base_branch",
    "checkout_at",
    "find_checkout",
    "head_of",
    "primary_root",
    "quarantine",
    "repository",
    "root_commits",
    "run",
    "seat",
    "short_name",
    "worktrees",
]
