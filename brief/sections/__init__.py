"""The sections of a brief, one module each. Every section says whether it was really read."""
