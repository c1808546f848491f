"""The code that runs at every prompt and refresh. It imports only the standard library, and nothing else of brief."""
