"""The branches that wait to be merged into the base: surveyed with git, stored as a dated observation."""
