"""The derive lock: one process at a time generates a repository's files, and everybody can see which."""
