"""The path of every prompt and refresh: the standard library only, and nothing else of brief."""
