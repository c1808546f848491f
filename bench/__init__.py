"""What majordomus costs, measured side by side with what it is compared to."""
