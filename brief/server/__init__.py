"""The server: the process that holds the lease of a repository, at most one, and answers for all its checkouts."""

HELD = 3
"""The exit code of a server process that found the lease taken."""
