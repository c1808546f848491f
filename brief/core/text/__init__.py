"""How a brief reads: cleaned, cut to cells, as a line, a page or a prompt."""
