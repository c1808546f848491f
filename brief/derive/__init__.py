"""The derive lock: one at a time derives what a repository generates, and everybody can see who."""
