"""Types and pure rules: no clock, file, process or network; time and zone come in as arguments."""
