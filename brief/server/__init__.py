"""The process that holds the lease of a repository, one at most, and answers for all its checkouts."""
