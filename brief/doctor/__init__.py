"""Checks of everything that the briefs of a repository depend on, with or without a server."""
