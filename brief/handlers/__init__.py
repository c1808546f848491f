"""The handlers of the capabilities: for each its inputs, its handler, and its text for a person."""
