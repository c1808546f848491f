"""The command `majordomus`: what the fast path does not answer by itself."""
