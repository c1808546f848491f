"""The episodes and tasks of a repository, stored in SQLite, and the board that knows which sessions really called."""
