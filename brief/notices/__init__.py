"""The notices that sessions leave each other, as files in folders."""
