"""Takes a list of reminders in Markdown over as notices: asked for once, if ever, and imported by its command alone."""
