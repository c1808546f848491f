"""The process that holds the lease of a repository, one at most, and answers for all its checkouts."""

HELD = 3
"""The exit code of a start that found the lease taken."""
