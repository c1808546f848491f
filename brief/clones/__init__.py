"""The other clones of a repository on this machine: their servers found, and asked who is there."""
