"""What git knows, asked so that nothing in the repository changes."""
