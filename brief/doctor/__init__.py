"""Looking at everything that a repository's briefs rest on, whether or not a server answers."""
