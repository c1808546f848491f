"""Installing, removing and checking what brings briefs to a client's sessions: its mods, and its settings' hooks."""
