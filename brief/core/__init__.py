"""Types and pure rules, without a clock, files, processes or a network. Time and zone are arguments."""
