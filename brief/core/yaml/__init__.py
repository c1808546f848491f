"""Strict YAML for files that people write: bounded, and with positions in every error."""
