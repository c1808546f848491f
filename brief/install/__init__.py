"""How briefs reach the sessions of a client: its mods, put into its folders and taken out, and the hooks beside them."""
