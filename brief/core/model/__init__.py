"""The brief's own types, and the files that are generated from the typed models."""
