"""The sections of a brief: one file each, which answers from what it is given and says whether it was really read."""
