"""The policy's settings, and how a policy file is validated."""
