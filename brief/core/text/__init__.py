"""Render a brief as a line, a page or a prompt, with sanitized text cut to a width."""
