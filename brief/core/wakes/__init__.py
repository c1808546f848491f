"""Rules of waking: when a wake is due, and what becomes of it."""
