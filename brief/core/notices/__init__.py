"""The rules of notices: which are shown, in what order, and what a lock means."""
