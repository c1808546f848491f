"""The episodes and tasks of a repository, kept in SQLite, and the board that knows who was really heard."""
