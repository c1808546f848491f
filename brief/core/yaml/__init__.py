"""YAML with the limits and the positions that a person's file needs."""
