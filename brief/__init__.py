"""What every session of a coding agent must know, when it must know it, and at what cost."""

__version__ = "0.1.0"
