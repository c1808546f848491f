"""How each capability is answered: its input, its handler, and its text for a person."""
