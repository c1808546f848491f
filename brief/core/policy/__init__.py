"""The settings of a policy, and the validation of a policy file."""
