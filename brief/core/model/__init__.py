"""The types of a brief, and JSON Schema text from typed models."""
