"""Rules of notices: what is shown, in which order, and what a lock means."""
