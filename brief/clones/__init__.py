"""The other clones of a repository on this machine: find their servers and ask them for their boards."""
