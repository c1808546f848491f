"""Measures what majordomus costs, side by side with the programs it is compared to."""
