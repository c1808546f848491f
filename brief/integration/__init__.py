"""What waits to be merged into the base: surveyed by git, kept as an observation that says when it was made."""
