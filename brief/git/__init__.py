"""All calls of git, and what is read from `.git` without it. Nothing here changes the repository."""
